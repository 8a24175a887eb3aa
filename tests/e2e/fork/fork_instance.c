/* SPDX-License-Identifier: Apache-2.0 */

/* With OTELCTX_INSTANCE_ID=generate no two processes have the same id, however
 * they were forked. */

#include "tests/e2e/fork/fork.h"

TestSuite(fork_instance, .timeout = 600);

enum {
    PROCESSES = 4
};

static struct instance_id own_id(void)
{
    struct otelread_report report = {0};
    struct instance_id id;

    otelread_report_make(&report, getpid(), OTELREAD_PATIENCE_LONG);
    id = instance_id(&report);
    otelread_report_free(&report);
    return id;
}

/* The first process forks the others, and each of them makes a call. */
static void expect_ids_of_their_own(pid_t (*fork_)(void))
{
    struct instance_id id[PROCESSES];
    int result[2];

    cr_assert_eq(pipe(result), 0);
    publish("1");
    id[0] = own_id();
    for (unsigned i = 1; i < PROCESSES; i++) {
        const pid_t child = fork_();

        if (child == 0) {
            publish("2");
            id[i] = own_id();
            _exit(write(result[1], &id[i], sizeof(*id)) != sizeof(*id));
        }
        cr_assert_eq(status_of(child), 0);
        cr_assert_eq(read(result[0], &id[i], sizeof(*id)), sizeof(*id));
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        cr_expect_neq(id[i].text[0], '\0', "process %u", i);
        for (unsigned j = 0; j < i; j++)
            cr_expect_neq(strcmp(id[i].text, id[j].text), 0, "%u, %u", j, i);
    }
    publish("3");
    cr_expect_str_eq(own_id().text, id[0].text);
}

Test(fork_instance, each_child_of_fork_has_its_own)
{
    expect_ids_of_their_own(fork);
}

Test(fork_instance, each_child_of_a_raw_clone_has_its_own)
{
    expect_ids_of_their_own(raw_fork);
}

#if __GLIBC_PREREQ(2, 34)
Test(fork_instance, each_child_of__Fork_has_its_own)
{
    expect_ids_of_their_own(_Fork);
}
#endif
