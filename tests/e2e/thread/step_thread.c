/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Single-steps a thread under the shim through each call that changes its
 * context. Before every instruction a reader looks at the thread from outside,
 * by the rules of OTEP 4947, and must see the old context, the new one or,
 * where that is allowed, none: never a mixture. meson.build preloads the
 * library that ships, which attaches the context 9 by OTELCTX_TRACEPARENT=all
 * and knows three keys.
 */

#include "tests/e2e/step.h"
#include "tests/e2e/step_calls.h"
#include "tests/e2e/step_record.h"

#define X16  "xxxxxxxxxxxxxxxx"
#define X64  X16 X16 X16 X16
#define X255 X64 X64 X64 X16 X16 X16 "xxxxxxxxxxxxxxx"

/* What the reader saw of one call, from before its first instruction to its
 * end. */
struct steps {
    uint64_t slot; /* its address */
    struct seen last;
    struct words words, path;         /* the last context; all, "1 > - > 2" */
    unsigned slot_moves, valid_moves; /* changes; of `valid` in one record */
    unsigned invalid;                 /* looks at a record that is not valid */
    int *result;
};

static int look(pid_t pid, void *context)
{
    struct steps *const s = context;
    const bool first = s->path.text[0] == '\0';
    const uint64_t record = s->last.record;
    const uint8_t valid = s->last.head.valid;
    struct words words;

    see(pid, s->slot, &s->last);
    s->invalid += s->last.record != 0 && s->last.head.valid != 1;
    if (!first && s->last.record != record)
        s->slot_moves++;
    else if (!first && s->last.head.valid != valid)
        s->valid_moves++;

    words = seen_words(&s->last);
    if (strcmp(words.text, s->words.text) != 0)
        words_add(&s->path, "%s%s", first ? "" : " > ", words.text);
    s->words = words;
    return 0;
}

/* Steps a thread through one call, after the calls in `before`. */
static struct steps step_through(const char *before, const char *words,
                                 uint64_t slot)
{
    struct steps s = {.slot = slot, .result = step_share(sizeof(*s.result))};
    const struct call call = call_parse(words);
    const pid_t pid = step_fork();

    if (pid == 0) {
        make_calls(before);
        step_begin();
        *s.result = call.make(&call);
        step_end();
        _exit(0);
    }
    step_watch(pid, look, &s);
    return s;
}

static uint64_t slot_of_this_thread(void)
{
    const uint64_t slot = (uintptr_t)dlsym(NULL, "otel_thread_ctx_v1");

    cr_assert_neq(slot, 0, "the shim is not preloaded");
    return slot;
}

/* What a reader may see during a call. */
enum between {
    IN_FULL_VIEW, /* the old context and the new one */
    MAY_HIDE      /* or none */
};

static void expect_path(const struct steps *s, enum between between,
                        const char *words, const char *old, const char *new)
{
    struct words path = {""}, hidden = {""};

    words_add(&hidden, "%s > - > %s", old, new);
    if (between == MAY_HIDE && strcmp(s->path.text, hidden.text) == 0)
        return;
    words_add(&path, "%s", old);
    if (strcmp(old, new) != 0)
        words_add(&path, " > %s", new);
    cr_expect_str_eq(s->path.text, path.text, "%s: %s", words, s->path.text);
}

/* The writer changes either the pointer or `valid`, never both. */
static void expect_style(const struct steps *s, const char *before,
                         const char *words)
{
    cr_expect(s->slot_moves == 0 || s->valid_moves == 0, "%s: %s", words,
              s->path.text);
    if (!strstr(before, "pin") && !strstr(words, "pin"))
        cr_expect_eq(s->invalid, 0, "%s: valid is not 1", words);
}

static struct steps from_to(enum between between, const char *before,
                            const char *words, const char *old, const char *new)
{
    const struct steps s = step_through(before, words, slot_of_this_thread());

    cr_expect_eq(*s.result, 0, "%s: %d", words, *s.result);
    expect_path(&s, between, words, old, new);
    expect_style(&s, before, words);
    return s;
}

/* The same of a pinned record: the pointer does not change. */
static void pinned(enum between between, const char *before, const char *words,
                   const char *old, const char *new)
{
    const struct steps s = from_to(between, before, words, old, new);

    cr_expect_eq(s.slot_moves, 0, "%s: the slot moves", words);
}

Test(attach, at_every_instruction_there_is_the_old_context_the_new_one_or_none)
{
    from_to(MAY_HIDE, "detach", "attach 1", "-", "1");
    from_to(MAY_HIDE, "attach 1", "attach 2", "1", "2");
    from_to(MAY_HIDE, "attach 1; attr 0 a; attr 1 bcd", "attach 2",
            "1 0=a 1=bcd", "2");
    from_to(MAY_HIDE, "attach 1; attr 0 a", "attach 0", "1 0=a", "0");
    from_to(MAY_HIDE, "attach 1",
            "traceparent 2 00-02020202020202020202020202020202-"
            "0202020202020202-00",
            "1", "2");
    from_to(MAY_HIDE, "attach 1; attr 0 a", "with 2 bc", "1 0=a",
            "2 0=bc 1=with");
    from_to(MAY_HIDE, "attach 1; attr 0 a", "with 2 \xc3\xa9", "1 0=a",
            "2 0=\xc3\xa9 1=with");
}

Test(attach, replaces_the_context_of_all_threads_in_the_same_way)
{
    from_to(MAY_HIDE, "all", "attach 1", "9", "1");
}

Test(attach, of_a_pinned_record_changes_valid_alone)
{
    pinned(MAY_HIDE, "pin", "attach 1", "-", "1");
    pinned(MAY_HIDE, "pin", "with 1 a", "-", "1 0=a 1=with");
    pinned(MAY_HIDE, "pin; attach 1; attr 0 a", "attach 2", "1 0=a", "2");
}

Test(attach, after_a_detach_that_ended_a_pin_changes_the_pointer_alone)
{
    struct steps s =
        from_to(MAY_HIDE, "pin; detach; attach 1", "attach 2", "1", "2");

    cr_expect_eq(s.valid_moves, 0);
    s = from_to(MAY_HIDE, "record 5; pin; swap 5; detach; attach 1", "attach 2",
                "1", "2");
    cr_expect_eq(s.valid_moves, 0);
}

Test(attr, that_is_new_appears_whole_and_hides_nothing)
{
    from_to(IN_FULL_VIEW, "attach 1", "attr 0 a", "1", "1 0=a");
    from_to(IN_FULL_VIEW, "attach 1", "attr 0", "1", "1 0=");
    from_to(IN_FULL_VIEW, "attach 1; attr 1 a", "attr 0 " X255, "1 1=a",
            "1 0=" X255 " 1=a");
    from_to(IN_FULL_VIEW, "record 5; swap 5", "attr 2 abcdefg", "5",
            "5 2=abcdefg");
    pinned(IN_FULL_VIEW, "pin; attach 1", "attr 0 a", "1", "1 0=a");
}

Test(attr, that_is_replaced_has_the_old_value_the_new_one_or_is_hidden)
{
    const char *const before = "attach 1; attr 0 aaaa; attr 1 bbbb";

    from_to(MAY_HIDE, before, "attr 0 cccc", "1 0=aaaa 1=bbbb",
            "1 0=cccc 1=bbbb");
    from_to(MAY_HIDE, before, "attr 0 " X64, "1 0=aaaa 1=bbbb",
            "1 0=" X64 " 1=bbbb");
    from_to(MAY_HIDE, before, "attr 0 c", "1 0=aaaa 1=bbbb", "1 0=c 1=bbbb");
    from_to(MAY_HIDE, before, "attr 0", "1 0=aaaa 1=bbbb", "1 0= 1=bbbb");
    from_to(MAY_HIDE, before, "attr 1 cccc", "1 0=aaaa 1=bbbb",
            "1 0=aaaa 1=cccc");
    from_to(MAY_HIDE, before, "attr 1 ccccc", "1 0=aaaa 1=bbbb",
            "1 0=aaaa 1=ccccc");
    from_to(MAY_HIDE, before, "attr 1 c", "1 0=aaaa 1=bbbb", "1 0=aaaa 1=c");
    from_to(MAY_HIDE, before, "attr 0 aaaa", "1 0=aaaa 1=bbbb",
            "1 0=aaaa 1=bbbb");
}

Test(attr, of_the_programs_record_is_replaced_in_the_same_way)
{
    from_to(MAY_HIDE, "record 5; recordattr 5 aaaa; swap 5", "attr 0 ccc",
            "5 0=aaaa", "5 0=ccc");
    from_to(MAY_HIDE, "record 5; recordattr 5 aa; swap 5; attr 1 b", "unset 0",
            "5 0=aa 1=b", "5 1=b");
}

Test(attr, of_a_pinned_record_changes_valid_alone)
{
    pinned(MAY_HIDE, "pin; attach 1; attr 0 aa; attr 1 b", "attr 0 ccc",
           "1 0=aa 1=b", "1 0=ccc 1=b");
    pinned(MAY_HIDE, "pin; attach 1; attr 0 aa; attr 1 b", "unset 0",
           "1 0=aa 1=b", "1 1=b");
    pinned(IN_FULL_VIEW, "pin; attach 1; attr 0 aa; attr 1 b", "unset 1",
           "1 0=aa 1=b", "1 0=aa");
    pinned(IN_FULL_VIEW, "pin", "attr 0 a", "-", "-");
}

Test(attr, replaces_the_context_of_all_threads_by_a_whole_copy)
{
    from_to(IN_FULL_VIEW, "all", "attr 0 a", "9", "9 0=a");
    from_to(IN_FULL_VIEW, "all", "unset 0", "9", "9");
    from_to(IN_FULL_VIEW, "attach 1; attr 0 a; attr 1 b; detach; attach 2",
            "attr 2 c", "2", "2 2=c");
}

Test(unset, of_the_last_attribute_hides_nothing)
{
    from_to(IN_FULL_VIEW, "attach 1; attr 0 aa; attr 1 b", "unset 1",
            "1 0=aa 1=b", "1 0=aa");
    from_to(IN_FULL_VIEW, "attach 1; attr 0 aa", "unset 1", "1 0=aa", "1 0=aa");
}

Test(unset, in_the_middle_shows_the_old_context_the_new_one_or_none)
{
    from_to(MAY_HIDE, "attach 1; attr 0 aa; attr 1 b; attr 2 ccc", "unset 0",
            "1 0=aa 1=b 2=ccc", "1 1=b 2=ccc");
    from_to(MAY_HIDE, "attach 1; attr 0 aa; attr 1 b; attr 2 " X64, "unset 1",
            "1 0=aa 1=b 2=" X64, "1 0=aa 2=" X64);
}

/* A reader may look at a record that is in no slot, for instance at that of
 * another thread which is about to hand it over. */
Test(record_attr, at_every_instruction_the_record_is_whole_or_not_valid)
{
    static struct otelctx_record *const watched = &program_records[5];
    static const char *const rows[][4] = {
        {"record 5", "recordattr 5 a", "5", "5 0=a"},
        {"record 5; recordattr 5 aa", "recordattr 5 b", "5 0=aa", "5 0=b"},
        {"record 5; recordattr 5 aa", "recordattr 5 " X64, "5 0=aa",
         "5 0=" X64},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct steps s =
            step_through(rows[i][0], rows[i][1], (uintptr_t)&watched);

        cr_expect_eq(*s.result, 0);
        expect_path(&s, MAY_HIDE, rows[i][1], rows[i][2], rows[i][3]);
    }
}

Test(record_attr, does_not_change_the_attached_context)
{
    from_to(IN_FULL_VIEW, "attach 1; attr 0 a", "record 5", "1 0=a", "1 0=a");
    from_to(IN_FULL_VIEW, "attach 1; attr 0 a; record 5", "recordattr 5 b",
            "1 0=a", "1 0=a");
}

Test(swap, of_a_record_in_hides_nothing)
{
    from_to(IN_FULL_VIEW, "detach; record 5; recordattr 5 b", "swap 5", "-",
            "5 0=b");
    from_to(IN_FULL_VIEW, "attach 1; attr 0 a; record 5; recordattr 5 b",
            "swap 5", "1 0=a", "5 0=b");
    from_to(IN_FULL_VIEW, "all; record 5", "swap 5", "9", "5");
    from_to(IN_FULL_VIEW, "record 5; swap 5; record 6", "swap 6", "5", "6");
    from_to(IN_FULL_VIEW, "pin; attach 1; record 6", "swap 6", "1", "6");
}

Test(swap, of_a_record_out_restores_the_previous_one_and_hides_nothing)
{
    from_to(IN_FULL_VIEW, "detach; record 5; swap 5", "back", "5", "-");
    from_to(IN_FULL_VIEW, "attach 1; attr 0 a; record 5; swap 5", "back", "5",
            "1 0=a");
    from_to(IN_FULL_VIEW, "all; record 6; swap 6", "back", "6", "9");
    from_to(IN_FULL_VIEW, "record 5; swap 5; record 6; swap 6", "back", "6",
            "5");
    from_to(IN_FULL_VIEW, "pin; attach 1; record 6; swap 6", "back", "6", "1");
    from_to(IN_FULL_VIEW, "attach 1; attr 0 a", "swap 0", "1 0=a", "-");
}

Test(detach, at_every_instruction_there_is_the_whole_context_or_none)
{
    from_to(IN_FULL_VIEW, "detach", "detach", "-", "-");
    from_to(IN_FULL_VIEW, "attach 1; attr 0 a", "detach", "1 0=a", "-");
    from_to(IN_FULL_VIEW, "all", "detach", "9", "-");
    from_to(IN_FULL_VIEW, "record 5; swap 5", "detach", "5", "-");
    from_to(IN_FULL_VIEW, "pin; attach 1; attr 0 a", "detach", "1 0=a", "-");
}

Test(pin, at_every_instruction_there_is_the_old_context_or_none)
{
    from_to(IN_FULL_VIEW, "detach", "pin", "-", "-");
    from_to(IN_FULL_VIEW, "attach 1; attr 0 a", "pin", "1 0=a", "-");
    from_to(IN_FULL_VIEW, "all", "pin", "9", "-");
    pinned(IN_FULL_VIEW, "pin; attach 1; attr 0 a", "pin", "1 0=a", "-");
}

Test(refusal, of_an_attach_detaches_at_once_and_other_ones_change_nothing)
{
    static const struct {
        const char *before, *words, *seen;
        int result;
    } rows[] = {
        {"attach 1; attr 0 a", "half 2", "1 0=a > -", -EINVAL},
        {"attach 1; attr 0 a", "traceparent 0 00-1", "1 0=a > -", -EINVAL},
        {"attach 1; attr 0 a", "with 2 b\xff", "1 0=a > -", -EINVAL},
        {"attach 1; attr 0 a", "attr 200 b", "1 0=a", -EINVAL},
        {"attach 1; attr 0 a", "attr 0 b\xff", "1 0=a", -EINVAL},
        {"attach 1; attr 0 " X255 "; attr 1 " X255, "attr 2 " X255,
         "1 0=" X255 " 1=" X255, -ENOSPC},
        {"attach 1; attr 0 a; attr 1 " X255 "; attr 2 " X255, "attr 0 " X255,
         "1 0=a 1=" X255 " 2=" X255, -ENOSPC},
        {"record 5; swap 5", "attach 1", "5", -EBUSY},
        {"record 5; swap 5", "pin", "5", -EBUSY},
        {"detach", "attr 0 a", "-", -ENOENT},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct steps s =
            step_through(rows[i].before, rows[i].words, slot_of_this_thread());

        cr_expect_eq(*s.result, rows[i].result, "%s: %d", rows[i].words,
                     *s.result);
        cr_expect_str_eq(s.path.text, rows[i].seen, "%s: %s", rows[i].words,
                         s.path.text);
    }
}
