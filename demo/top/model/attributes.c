/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/model/attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int oteltop_attributes_add(struct oteltop_attributes *attributes,
                           const char *key, const char *value)
{
    struct oteltop_attribute *const grown =
        realloc(attributes->list, (attributes->count + 1) * sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    attributes->list = grown;

    struct oteltop_attribute *const added = &grown[attributes->count];
    *added = (struct oteltop_attribute){strdup(key), strdup(value)};
    if (!added->key || !added->value) {
        free(added->key);
        free(added->value);
        return -ENOMEM;
    }
    attributes->count++;
    return 0;
}

const char *oteltop_attributes_find(const struct oteltop_attributes *attributes,
                                    const char *key)
{
    for (size_t i = attributes->count; i-- > 0;) {
        if (strcmp(attributes->list[i].key, key) == 0)
            return attributes->list[i].value;
    }
    return NULL;
}

bool oteltop_attributes_are_same(const struct oteltop_attributes *a,
                                 const struct oteltop_attributes *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->list[i].key, b->list[i].key) != 0 ||
            strcmp(a->list[i].value, b->list[i].value) != 0)
            return false;
    }
    return true;
}

void oteltop_attributes_free(struct oteltop_attributes *attributes)
{
    for (size_t i = 0; i < attributes->count; i++) {
        free(attributes->list[i].key);
        free(attributes->list[i].value);
    }
    free(attributes->list);
    *attributes = (struct oteltop_attributes){.count = 0};
}
