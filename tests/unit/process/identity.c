/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/identity.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "shim/process/instance_id.h"
#include "shim/process/state.h"
#include "shim/process/versions.h"

/* Instead of libc's: with the path that a test sets. */
static const char *execfn = "/usr/bin/program";

unsigned long getauxval(unsigned long type)
{
    unsigned long (*libcs)(unsigned long);

    *(void **)&libcs = dlsym(RTLD_NEXT, "getauxval");
    return type == AT_EXECFN ? (uintptr_t)execfn : libcs(type);
}

static struct otelctx_payload payload;
static char many[OTELCTX_PAYLOAD_MAX]; /* "xxx..." */

static void begin(void)
{
    memset(many, 'x', sizeof(many));
    cr_assert_eq(otelctx_state_lock(), 0);
}

TestSuite(identity, .init = begin);
TestSuite(service_name, .init = begin);
TestSuite(instance_id, .init = begin);

static void set(const char *key, const char *value)
{
    cr_assert_eq(otelctx_payload_set(&payload, OTELCTX_RESOURCE,
                                     otelctx_span_from(key),
                                     otelctx_span_from(value)),
                 0);
}

/* Fill the payload, but for a number of bytes. */
static void leave_room(size_t size)
{
    size_t value = sizeof(many) - size;

    while (otelctx_payload_set(&payload, OTELCTX_RESOURCE, OTELCTX_SPAN("x"),
                               (struct otelctx_span){many, value}))
        value--;
    cr_assert_eq(otelctx_payload_set(&payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN("x"),
                                     (struct otelctx_span){many, value - size}),
                 0);
}

/* The value of a resource attribute; "none" if it has none, good until the next
 * call. */
static const char *value_of(const char *key)
{
    static char text[256];
    struct otelctx_span rest =
        otelctx_payload_attributes(&payload, OTELCTX_RESOURCE);

    while (rest.size > 0) {
        struct otelctx_span value;

        if (otelctx_span_equal(otelctx_payload_take(&rest, &value),
                               otelctx_span_from(key))) {
            cr_assert_lt(value.size, sizeof(text));
            *(char *)mempcpy(text, value.at, value.size) = '\0';
            return text;
        }
    }
    return "none";
}

static void expect_name(const char *path, const char *name)
{
    execfn = path;
    memset(&payload, 0, sizeof(payload));
    cr_expect_eq(otelctx_identity_complete(&payload), 0);
    cr_expect_str_eq(value_of("service.name"), name);
}

/* Semantic conventions, "Service": unknown_service:<executable>. */
Test(service_name, is_that_of_the_executable_when_there_is_none)
{
    expect_name("/usr/bin/program", "unknown_service:program");
    expect_name("./a", "unknown_service:a");
    expect_name("/srv/caf\u00e9", "unknown_service:caf\u00e9");
}

Test(service_name, has_no_colon_when_the_executable_has_no_name)
{
    expect_name("/dev/fd/3", "unknown_service");
    expect_name("", "unknown_service");
    expect_name("/srv/caf\xe9", "unknown_service");
}

Test(service_name, that_the_user_gave_stays)
{
    set("service.name", "mine");
    cr_expect_eq(otelctx_identity_complete(&payload), 0);
    cr_expect_str_eq(value_of("service.name"), "mine");
    cr_expect(payload.is_complete);
}

Test(service_name, without_room_is_an_error)
{
    leave_room(20);
    cr_expect_eq(otelctx_identity_complete(&payload), -ENOSPC);
    cr_expect_str_eq(value_of("service.name"), "none");
}

Test(instance_id, is_not_there_unless_it_is_wanted)
{
    cr_expect_eq(otelctx_identity_complete(&payload), 0);
    cr_expect_str_eq(value_of(OTELCTX_INSTANCE_KEY), "none");
    cr_expect(payload.is_complete);
}

Test(instance_id, that_is_wanted_is_the_one_that_was_made)
{
    otelctx_instance_id_want();
    cr_expect_eq(otelctx_identity_complete(&payload), 0);
    cr_expect_eq(otelctx_instance_id().size, OTELCTX_INSTANCE_SIZE - 1);
    cr_expect_str_eq(value_of(OTELCTX_INSTANCE_KEY), otelctx_instance_id().at);
}

Test(instance_id, that_the_user_gave_stays_and_no_other_is_made)
{
    otelctx_instance_id_want();
    set(OTELCTX_INSTANCE_KEY, "mine");
    cr_expect_eq(otelctx_identity_complete(&payload), 0);
    cr_expect_str_eq(value_of(OTELCTX_INSTANCE_KEY), "mine");
    cr_expect_eq(otelctx_instance_id().size, 0);
    cr_expect(payload.is_complete);
}

Test(instance_id, without_room_is_left_out_until_there_is)
{
    otelctx_instance_id_want();
    leave_room(60);
    cr_expect_eq(otelctx_identity_complete(&payload), 0);
    cr_expect_str_neq(value_of("service.name"), "none");
    cr_expect_str_eq(value_of(OTELCTX_INSTANCE_KEY), "none");
    cr_expect_not(payload.is_complete, "it is not tried again");

    set("x", "short");
    cr_expect_eq(otelctx_identity_complete(&payload), 0);
    cr_expect_str_eq(value_of(OTELCTX_INSTANCE_KEY), otelctx_instance_id().at);
}

/* How often the id is in the versions. */
static unsigned count(const char *id)
{
    const char *at = (const char *)otelctx_state_version;
    const char *const end = at + sizeof(otelctx_state_version);
    unsigned found = 0;

    while ((at = memmem(at, (size_t)(end - at), id, strlen(id)))) {
        at++;
        found++;
    }
    return found;
}

/* In all three versions, and where readers see it. */
Test(instance_id, is_renewed_wherever_it_is_written)
{
    struct otelctx_publication *const p = otelctx_state_publication();
    struct otelctx_failure failure;
    char old[OTELCTX_INSTANCE_SIZE];
    uint8_t *room, *large;

    otelctx_instance_id_want();
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(otelctx_identity_complete(otelctx_versions_edit()), 0);
        otelctx_versions_stage();
        if (i == 0)
            otelctx_versions_publish();
    }
    memcpy(old, otelctx_instance_id().at, sizeof(old));
    cr_assert_eq(otelctx_publication_room(p, OTELCTX_PAYLOAD_MAX,
                                          otelctx_state_page_size, &large,
                                          &failure),
                 0);
    memcpy(large + OTELCTX_PAYLOAD_MAX - sizeof(old), old, sizeof(old));
    cr_assert_eq(otelctx_publication_room(p, 100, otelctx_state_page_size,
                                          &room, &failure),
                 0);
    memcpy(room, old, sizeof(old));
    otelctx_state_set_own_id(false);

    otelctx_identity_renew();
    cr_expect(otelctx_state_has_own_id());
    cr_expect_str_neq(otelctx_instance_id().at, old);
    cr_expect_eq(count(old), 0);
    cr_expect_eq(count(otelctx_instance_id().at), 3);
    cr_expect_str_eq((const char *)room, otelctx_instance_id().at);
    cr_expect_str_eq((const char *)large + OTELCTX_PAYLOAD_MAX - sizeof(old),
                     otelctx_instance_id().at);
}

Test(instance_id, that_was_never_made_is_not_renewed)
{
    otelctx_instance_id_want();
    set(OTELCTX_INSTANCE_KEY, "mine");
    cr_expect_eq(otelctx_identity_complete(&payload), 0);
    otelctx_identity_renew();
    cr_expect_eq(otelctx_instance_id().size, 0);
    cr_expect_str_eq(value_of(OTELCTX_INSTANCE_KEY), "mine");
}
