/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/otelctx_kit.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct otelctx_kit_publisher publisher;

/* Whether the maps of a process have this text. */
static bool maps_have(pid_t pid, const char *text)
{
    char path[64], line[512];
    bool found = false;

    (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *const maps = fopen(path, "re");
    cr_assert_neq(maps, NULL);
    while (fgets(line, sizeof(line), maps))
        found = found || strstr(line, text);
    (void)fclose(maps);
    return found;
}

Test(kit, scenarios_are_counted_from_0_to_the_last)
{
    size_t count = 0;

    while (otelctx_kit_scenario(count))
        count++;
    cr_expect_geq(count, 60);
    cr_expect_eq(otelctx_kit_scenario(count + 1000), NULL);
    cr_expect_eq(otelctx_kit_find(otelctx_kit_scenario(count - 1)->name),
                 otelctx_kit_scenario(count - 1));
}

Test(kit, a_scenario_is_on_stage_until_it_is_stopped)
{
    cr_assert_eq(otelctx_kit_start("mapping/memfd", &publisher), 0, "%s",
                 publisher.message);
    const pid_t pid = publisher.pid;
    cr_expect(maps_have(pid, "/memfd:OTEL_CTX"));
    cr_expect_neq(strstr(publisher.line, "\"answer\":\"context\""), NULL);
    otelctx_kit_stop(&publisher);
    cr_expect_eq(kill(pid, 0), -1);
    cr_expect_eq(errno, ESRCH);
}

Test(kit, a_program_of_its_own_leaves_no_files)
{
    char folder[sizeof(publisher.folder)];

    cr_assert_eq(otelctx_kit_start("threads/initial-exec", &publisher), 0, "%s",
                 publisher.message);
    memcpy(folder, publisher.folder, sizeof(folder));
    cr_expect_eq(access(folder, F_OK), 0);
    cr_expect(maps_have(publisher.pid, "/initial_exec.so"));
    otelctx_kit_stop(&publisher);
    cr_expect_eq(access(folder, F_OK), -1);
}

Test(kit, an_unknown_name_is_an_error)
{
    cr_expect_eq(otelctx_kit_start("mapping/memfed", &publisher), -ENOENT);
    cr_expect_eq(publisher.line, NULL);
    cr_expect_eq(otelctx_kit_find("mapping/memfed"), NULL);
}

Test(kit, the_calling_process_may_publish_itself)
{
    char *line = NULL;

    cr_assert_eq(otelctx_kit_publish("mapping/memfd", &line), 0);
    cr_expect(maps_have(getpid(), "/memfd:OTEL_CTX"));
    cr_expect_neq(strstr(line, "\"resource\":{\"service.name\":\"shop\"}"),
                  NULL);
    free(line);
    cr_expect_eq(otelctx_kit_publish("threads/local-exec", &line), -ENOTSUP);
    cr_expect_eq(otelctx_kit_publish("mapping/child", &line), -ENOTSUP);
    cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "the child is still there");
    cr_expect_eq(otelctx_kit_publish("nothing", &line), -ENOENT);
}
