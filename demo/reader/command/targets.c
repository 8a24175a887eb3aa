/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/targets.h"

#include "demo/base/escape.h"
#include "demo/reader/command/show.h"
#include "demo/reader/os/identify.h"
#include "demo/reader/os/processes.h"
#include "demo/reader/os/stat.h"
#include "demo/reader/report/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int append(struct otelread_targets *targets, const pid_t *pids,
                  size_t count)
{
    const size_t total = targets->count + count;
    pid_t *const grown =
        realloc(targets->pids, (total + 1) * sizeof(*targets->pids));

    if (!grown)
        return -ENOMEM;
    targets->pids = grown;
    if (count > 0)
        (void)memcpy(grown + targets->count, pids, count * sizeof(*pids));
    targets->count = total;
    return 0;
}

/* The kernel hides threads from lists, but opens /proc/TID. */
static void mention_process(pid_t pid)
{
    const pid_t process = otelread_identify_thread(pid);
    struct otelread_stat stat;
    char name[128] = "";

    if (process == 0 || process == pid)
        return;
    if (otelread_stat_read(process, process, &stat) == 0)
        otelbase_escape_copy(name, sizeof(name), stat.command,
                             strlen(stat.command));
    otelread_complain(pid, "this is a thread of process %d (%s)", (int)process,
                      name);
}

static int fail(int error)
{
    (void)fprintf(stderr, "%s: cannot find processes: %s\n",
                  program_invocation_short_name, strerror(-error));
    return OTELREAD_ERROR;
}

static int find_name(struct otelread_targets *targets, const char *word)
{
    char name[128];
    pid_t *pids;
    size_t count;
    int error = otelread_identify_name(word, &pids, &count);

    if (error == 0)
        error = append(targets, pids, count);
    free(pids);
    if (error != 0)
        return fail(error);
    if (count > 0)
        return OTELREAD_OK;
    otelbase_escape_copy(name, sizeof(name), word, strlen(word));
    (void)fprintf(stderr, "%s: no process is called '%s'\n",
                  program_invocation_short_name, name);
    return OTELREAD_NO_PROCESS;
}

static int find_number(struct otelread_targets *targets, pid_t pid)
{
    const int error = append(targets, &pid, 1);

    mention_process(pid);
    return error != 0 ? fail(error) : OTELREAD_OK;
}

int otelread_targets_find(struct otelread_targets *targets, char *const *words,
                          size_t count)
{
    int status = OTELREAD_OK;

    *targets = (struct otelread_targets){.count = 0};
    for (size_t i = 0; i < count; i++) {
        const pid_t pid = otelread_pid_parse(words[i]);
        const int found =
            pid != 0 ? find_number(targets, pid) : find_name(targets, words[i]);

        status = status == OTELREAD_OK ? found : status;
    }
    return status;
}
