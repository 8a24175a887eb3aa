/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/detect.h"

#include <criterion/criterion.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool finds(const char *text, const char *id)
{
    return otelctx_span_equal(otelrun_detect_container(otelctx_span_from(text)),
                              otelctx_span_from(id));
}

Test(container, is_the_last_part_of_a_cgroup)
{
    cr_expect(finds("12:pids:/docker/" ID "\n", ID));
    cr_expect(finds("0::/kubepods/pod7/cri-containerd-" ID ".scope\n", ID));
    cr_expect(finds("0::/\n", ""));
    cr_expect(finds("0::/" ID "0\n", ""));
}

Test(container, is_in_the_source_of_the_hostname_mount)
{
    cr_expect(finds("631 568 254:1 /docker/containers/" ID
                    "/hostname /etc/hostname rw - ext4 /dev/vda rw\n",
                    ID));
    cr_expect(finds("631 568 254:1 /docker/containers/" ID
                    "/resolv.conf /etc/resolv.conf rw - ext4 /dev/vda rw\n",
                    ""));
}

Test(container, is_not_the_sandbox_of_its_pod)
{
    cr_expect(finds("631 568 254:1 /io.containerd/sandboxes/" ID
                    "/hostname /etc/hostname rw - ext4 /dev/vda rw\n",
                    ""));
}

Test(release, is_read_without_its_quotes)
{
    const struct otelctx_span text =
        OTELCTX_SPAN("NAME=\"Debian GNU/Linux\"\nVERSION_ID='12'\nID=debian\n");

    cr_expect(
        otelctx_span_equal(otelrun_detect_release(text, OTELCTX_SPAN("NAME")),
                           OTELCTX_SPAN("Debian GNU/Linux")));
    cr_expect(otelctx_span_equal(
        otelrun_detect_release(text, OTELCTX_SPAN("VERSION_ID")),
        OTELCTX_SPAN("12")));
    cr_expect(
        otelctx_span_equal(otelrun_detect_release(text, OTELCTX_SPAN("ID")),
                           OTELCTX_SPAN("debian")));
    cr_expect_null(otelrun_detect_release(text, OTELCTX_SPAN("VERSION")).at);
}
