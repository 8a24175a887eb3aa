/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program on stage: it runs one scene and stays.
 *
 *     PROGRAM SCENE DESCRIPTOR [LIBRARY]
 *
 * The line goes to the descriptor, or what went wrong, behind an exclamation
 * mark. The library is opened when the scene says so.
 */

#include "demo/kit/stage/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *library;

#ifdef OTELKIT_STATIC
extern otelkit_slot_function otelkit_slot_find;

static void slot_find(void)
{
    otelkit_slot = otelkit_slot_find;
}
#else
static void slot_take(void *found)
{
    memcpy(&otelkit_slot, &found, sizeof(otelkit_slot));
}

static void slot_find(void)
{
    slot_take(dlsym(RTLD_DEFAULT, "otelkit_slot_find"));
}

static int slot_open(struct otelkit_stage *stage, bool apart)
{
    void *module = NULL;

    if (!library)
        return otelkit_stage_refuse(stage, "no library to open");
#ifdef __GLIBC__
    if (apart)
        module = dlmopen(LM_ID_NEWLM, library, RTLD_NOW);
    else
#endif
        module = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        return otelkit_stage_refuse(stage, "%s", dlerror());
    slot_take(dlsym(module, "otelkit_slot_find"));
    return otelkit_slot ? 0 : -ENOTSUP;
}
#endif

int main(int argc, char **argv)
{
    struct otelkit_stage stage = {.line = -1};

    if (argc < 3)
        return 2;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    stage.line = atoi(argv[2]);
    library = argc > 3 ? argv[3] : NULL;
    stage.scene = otelkit_scene_find(argv[1]);
    if (!stage.scene || otelkit_stage_open(&stage) != 0)
        return 2;
    otelkit_again = argv;
    slot_find();
#ifndef OTELKIT_STATIC
    otelkit_slot_opener = slot_open;
#endif
    const int error = stage.scene->set(&stage, stage.scene->how);
    argv[2][0] = '-'; /* executed again: it has written its line before */
    argv[2][1] = '1';
    if (error == 0)
        (void)otelkit_stage_say(&stage);
    else
        (void)dprintf(stage.line, "!%s\n",
                      stage.why[0] != '\0' ? stage.why : strerror(-error));
    for (;;)
        (void)pause();
}
