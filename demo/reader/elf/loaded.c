/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/loaded.h"

#include "demo/base/hash.h"
#include "demo/reader/os/maps.h"

#include <unistd.h>

static bool is_code(const struct otelread_maps_line *line)
{
    return line->permissions[2] == 'x' && line->name_size > 0 &&
           line->name[0] == '/';
}

int otelread_loaded_digest(const struct otelread_target *target,
                           uint64_t *digest)
{
    int fd = otelread_target_maps(target);
    struct otelread_maps maps = {.read = otelread_maps_read_fd, .source = &fd};
    struct otelread_maps_line line;
    int result;

    if (fd < 0)
        return fd;
    *digest = OTELBASE_HASH;
    while ((result = otelread_maps_next_line(&maps, &line)) > 0) {
        if (!is_code(&line))
            continue;
        *digest = otelbase_hash_number(*digest, line.start);
        *digest = otelbase_hash_add(*digest, line.name, line.name_size);
    }
    (void)close(fd);
    return result;
}
