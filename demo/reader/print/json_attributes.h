/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/json_writer.h"
#include "demo/reader/payload/list.h"

/*
 * An array of attributes in wire order, in the JSON mapping of OTLP: bytes in
 * base64, integers and doubles that are no number as strings.
 */
void otelread_json_attributes_print(struct otelbase_json *json,
                                    const struct otelread_list *list);
