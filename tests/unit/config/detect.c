/* SPDX-License-Identifier: Apache-2.0 */
#include "config/detect.h"

#include <criterion/criterion.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool finds(const char *text, const char *id)
{
    return otelctx_span_equal(otelctx_detect_container(otelctx_span_from(text)),
                              otelctx_span_from(id));
}

#define SANDBOX                                                                \
    "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define TASK "0123456789abcdef0123456789abcdef"
#define POD  "kubepods-burstable-pod2c48913c_b29f_11e7_9350_020968147796.slice"
#define DISK " rw,relatime - ext4 /dev/vda1 rw\n"

/* What engines write, by their documentation and the tests of the detectors of
 * the Collector and the profiler. */
static const struct {
    const char *name, *text, *id;
} files[] = {
    {"Docker, cgroup v1", "12:pids:/docker/" ID "\n", ID},
    {"Docker, cgroup v2", "0::/system.slice/docker-" ID ".scope\n", ID},
    {"containerd", "0::/kubepods.slice/" POD "/cri-containerd-" ID ".scope\n",
     ID},
    {"containerd without systemd",
     "0::/system.slice/containerd.service/" POD ":cri-containerd:" ID "\n", ID},
    {"CRI-O", "0::/kubepods.slice/" POD "/crio-" ID ".scope\n", ID},
    {"CRI-O, below its scope",
     "0::/kubepods.slice/" POD "/crio-" ID ".scope/container\n", ID},
    {"CRI-O's monitor", "0::/kubepods.slice/" POD "/crio-conmon-" ID ".scope\n",
     ""},
    {"Podman", "0::/machine.slice/libpod-" ID ".scope/container\n", ID},
    {"Podman, rootless",
     "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
     ".scope\n",
     ID},
    {"ECS on EC2", "9:perf_event:/ecs/" TASK "/" ID "\n", ID},
    {"ECS, its own ids", "9:perf_event:/ecs/" TASK "/" TASK "-2574823563\n",
     TASK "-2574823563"},
    {"Fargate", "0::/ecs/" TASK "/" TASK "-1234567890\n", TASK "-1234567890"},
    {"systemd-nspawn", "0::/machine.slice/machine-debian.scope/payload\n", ""},
    {"a private namespace", "0::/\n", ""},
    {"a service", "0::/system.slice/ssh.service\n", ""},
    {"a task without a number", "0::/ecs/" TASK "-\n", ""},
    {"a UUID", "0::/pod01234567-89ab-cdef-0123-456789abcdef\n", ""},
    {"a longer number", "0::/" ID "0\n", ""},
    {"a longer word", "0::/" ID "xyz\n", ""},
    {"Docker's mounts",
     "631 568 254:1 /docker/containers/" ID "/resolv.conf /etc/resolv.conf" DISK
     "632 568 254:1 /docker/containers/" ID "/hostname /etc/hostname" DISK,
     ID},
    {"another mount alone",
     "631 568 254:1 /docker/containers/" ID
     "/resolv.conf /etc/resolv.conf" DISK,
     ""},
    {"containerd's sandbox",
     "631 568 254:1 /io.containerd.grpc.v1.cri/sandboxes/" SANDBOX
     "/hostname /etc/hostname" DISK,
     ""},
    {"Podman's mounts",
     "631 568 0:25 /containers/storage/overlay-containers/" ID
     "/userdata/hostname /etc/hostname" DISK
     "632 568 0:25 /containers/storage/overlay-containers/" ID
     "/userdata/.containerenv /run/.containerenv" DISK,
     ID},
    {"CRI-O's sandbox",
     "631 568 0:25 /containers/storage/overlay-containers/" SANDBOX
     "/userdata/hostname /etc/hostname" DISK,
     ""},
};

Test(container, is_what_the_engine_calls_it)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        cr_expect(finds(files[i].text, files[i].id), "%s", files[i].name);
}

Test(release, is_read_without_its_quotes)
{
    const struct otelctx_span text =
        OTELCTX_SPAN("NAME=\"Debian GNU/Linux\"\nVERSION_ID='12'\nID=debian\n");

    cr_expect(
        otelctx_span_equal(otelctx_detect_release(text, OTELCTX_SPAN("NAME")),
                           OTELCTX_SPAN("Debian GNU/Linux")));
    cr_expect(otelctx_span_equal(
        otelctx_detect_release(text, OTELCTX_SPAN("VERSION_ID")),
        OTELCTX_SPAN("12")));
    cr_expect(
        otelctx_span_equal(otelctx_detect_release(text, OTELCTX_SPAN("ID")),
                           OTELCTX_SPAN("debian")));
    cr_expect_null(otelctx_detect_release(text, OTELCTX_SPAN("VERSION")).at);
}
