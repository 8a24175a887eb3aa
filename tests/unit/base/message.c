/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/message.h"

#include <criterion/criterion.h>
#include <string.h>

Test(reader_message, setting_replaces_what_was_there)
{
    char message[32] = "old";

    otelbase_message_set(message, sizeof(message), "%s %d", "new", 1);
    cr_expect_str_eq(message, "new 1");
}

Test(reader_message, adding_separates_with_a_semicolon)
{
    char message[32] = "";

    otelbase_message_add(message, sizeof(message), "one");
    otelbase_message_add(message, sizeof(message), "%d", 2);
    cr_expect_str_eq(message, "one; 2");
}

Test(reader_message, a_message_that_does_not_fit_is_cut)
{
    char message[8];

    otelbase_message_set(message, sizeof(message), "123456789");
    cr_expect_str_eq(message, "1234567");
    otelbase_message_add(message, sizeof(message), "more");
    cr_expect_str_eq(message, "1234567");

    for (size_t used = 0; used < sizeof(message); used++) {
        otelbase_message_set(message, sizeof(message), "%.*s", (int)used,
                             "1234567");
        otelbase_message_add(message, sizeof(message), "8");
        cr_expect_eq(strlen(message), used == 0  ? 1
                                      : used < 5 ? used + 3
                                                 : sizeof(message) - 1);
    }
}
