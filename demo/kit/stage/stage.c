/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/stage/stage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const answers[] = {
    [OTELKIT_CONTEXT] = "context",
    [OTELKIT_NONE] = "none",
    [OTELKIT_EITHER] = "either",
};

char **otelkit_again;

const struct otelkit_scene *otelkit_scene_find(const char *name)
{
    for (size_t group = 0; otelkit_scenes[group]; group++) {
        const struct otelkit_scene *scene = otelkit_scenes[group];

        for (; scene->about.name; scene++) {
            if (strcmp(scene->about.name, name) == 0)
                return scene;
        }
    }
    return NULL;
}

static bool text_open(struct otelkit_text *text)
{
    text->file = open_memstream(&text->text, &text->size);
    return text->file;
}

static void text_close(struct otelkit_text *text)
{
    if (text->file)
        (void)fclose(text->file);
    free(text->text);
    *text = (struct otelkit_text){.file = NULL};
}

int otelkit_stage_open(struct otelkit_stage *stage)
{
    if (text_open(&stage->at) && text_open(&stage->tids) &&
        text_open(&stage->threads) && text_open(&stage->ring_threads))
        return 0;
    otelkit_stage_close(stage);
    return -ENOMEM;
}

void otelkit_stage_close(struct otelkit_stage *stage)
{
    text_close(&stage->at);
    text_close(&stage->tids);
    text_close(&stage->threads);
    text_close(&stage->ring_threads);
    free(stage->own_resource);
    stage->own_resource = NULL;
}

int otelkit_stage_refuse(struct otelkit_stage *stage, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(stage->why, sizeof(stage->why), format, arguments);
    va_end(arguments);
    return -ENOTSUP;
}

void otelkit_stage_at(struct otelkit_stage *stage, const char *name,
                      const volatile void *address)
{
    (void)fprintf(stage->at.file, ",\"%s\":\"0x%" PRIxPTR "\"", name,
                  (uintptr_t)address);
}

/* ,"name":{"answer":A,"threads":[...]} or ,"name":[...], when not empty */
static void list_print(FILE *out, const char *open, struct otelkit_text *list,
                       const char *close)
{
    (void)fflush(list->file);
    if (list->size > 0) /* the first byte is a comma */
        (void)fprintf(out, "%s%s%s", open, list->text + 1, close);
}

static void expectation_print(FILE *out, struct otelkit_stage *stage)
{
    const struct otelkit_scene *const scene = stage->scene;
    const char *const resource =
        stage->resource ? stage->resource : scene->resource;

    (void)fprintf(out, "{\"answer\":\"%s\"", answers[scene->answer]);
    if (scene->check == OTELKIT_NUMBERED)
        (void)fprintf(out, ",\"check\":\"numbered\"");
    if (resource)
        (void)fprintf(out, ",\"resource\":%s", resource);
    if (scene->extra)
        (void)fprintf(out, ",\"extra\":%s", scene->extra);
    list_print(out, ",\"threads\":[", &stage->threads, "]");
    list_print(out, ",\"ring\":[", &stage->ring_threads, "]");
    (void)fprintf(out, "}");
}

char *otelkit_stage_line(struct otelkit_stage *stage)
{
    struct otelkit_text line = {.file = NULL};

    if (!text_open(&line))
        return NULL;
    (void)fprintf(line.file, "{\"scenario\":\"%s\",\"pid\":%d",
                  stage->scene->about.name,
                  (int)(stage->pid != 0 ? stage->pid : getpid()));
    list_print(line.file, ",\"tids\":[", &stage->tids, "]");
    list_print(line.file, ",\"at\":{", &stage->at, "}");
    (void)fprintf(line.file, ",\"expect\":");
    expectation_print(line.file, stage);
    (void)fprintf(line.file, "}");
    (void)fclose(line.file);
    return line.text;
}

int otelkit_stage_say(struct otelkit_stage *stage)
{
    char *const line = otelkit_stage_line(stage);
    size_t size;
    int result = 0;

    if (stage->line < 0) {
        free(line);
        return 0;
    }
    if (!line)
        return -ENOMEM;
    size = strlen(line);
    line[size++] = '\n';
    for (size_t done = 0; done < size && result == 0;) {
        const ssize_t wrote = write(stage->line, line + done, size - done);

        if (wrote > 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            result = -errno;
    }
    free(line);
    return result;
}
