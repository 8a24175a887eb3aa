/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"
#include "config/traceparent.h"
#include "shim/requests/labels.h"

/*
 * The trace in the comment that ends a statement, as sqlcommenter appends it:
 *
 *   "/" "*" key='value' *("," key='value') "*" "/"
 *
 * Blanks, ";" and NUL may follow the comment, and nothing else: at the end of a
 * valid statement no string literal is open, in any dialect of SQL, so that
 * the text between the quotes of a literal cannot count. Values are
 * percent-encoded. A comment that has two traces, a malformed one, a backslash
 * or anything else than keys and values has none.
 * Rule: sqlcommenter, "Specification".
 *
 * The statement's operation and the comment's route are added to the labels,
 * unless these are NULL.
 */
bool otelctx_sql_trace(struct otelctx_span statement,
                       struct otelctx_traceparent *out,
                       struct otelctx_labels *labels);
