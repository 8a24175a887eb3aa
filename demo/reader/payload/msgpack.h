/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/decode.h"

/*
 * Decodes the payload of the first process contexts, of 2025, which was no
 * protobuf: one MessagePack map of strings, here the resource.
 * Returns as otelread_decode() does.
 * Rule: MessagePack specification, "map format family", "str format family".
 */
int otelread_msgpack_decode(const uint8_t *payload, size_t size,
                            struct otelread_decoded *out,
                            struct otelread_fault *fault);
