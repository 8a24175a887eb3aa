#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The recipes for Kubernetes in demo/deploy: kustomize's own library applies the
# component, the API server's own packages evaluate its policy and Kyverno's own
# packages the one for Kyverno, k8s.io/api decodes every manifest; podman plays a pod
# that the policy changed.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/support/podman.sh
. "$ROOT/tests/support/podman.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/../peers.sh"
cd "$TMP"
# shellcheck source=tests/e2e/run/images.sh
. "$ROOT/tests/e2e/run/images.sh"

newer_than 1.26 go version || skip_all 'machine: the packages of Kubernetes need Go 1.26'

# What of Kyverno compiles and evaluates a policy, for `go -overlay`: 80 packages more
# than the other tests need, instead of 1,900. The rest are clients of clusters and
# registries, which this policy does not call. Kyverno's own fake replaces them, so
# only the interface of libs/context.go remains.
overlay_kyverno() {
    local version from to=$ROOT/tests/e2e/run/kube/kyverno

    version=$(sed -n 's,.*github.com/kyverno/kyverno v,v,p' "$ROOT/tests/e2e/run/kube/go.mod")
    from=$(go mod download -json "github.com/kyverno/kyverno@$version" | jq -r '.Dir // error(.Error)')
    cd "$from/pkg"
    sed -E -e '/^type generateContext/,$d' -e '/^import/,/^\)/{
        /^import|^\)|libs\/(generator|globalcontext|imagedata|resource)"|v1\/unstructured"|klog/!d
    }' cel/libs/context.go >"$TMP/context.go"
    printf '%s\n' cel/{compiler,policies/mpol/compiler}/*.go toggle/*.go \
        cel/libs/{fake_context,http_mock,variables}.go \
        utils/admission/resource.go utils/kube/unstructured.go |
        sed '/_test\.go$/d' |
        jq -Rn --arg from "$from" --arg to "$to" --arg context "$TMP/context.go" '
            {Replace: ([inputs | {"\($to)/pkg/\(.)": "\($from)/pkg/\(.)"}] | add +
                {"\($to)/pkg/cel/libs/context.go": $context})}' >"$TMP/overlay"
}
check 'Kyverno is there' overlay_kyverno
build_tests() {
    in_go "$ROOT/tests/e2e/run/kube" test -c -vet=off -overlay "$TMP/overlay" -o "$built/kube" .
}
check 'the packages of Kubernetes, kustomize and Kyverno build' build_tests
# one TEST: of those in kube_test.go.
one() {
    cd "$ROOT/tests/e2e/run/kube" && "$built/kube" -test.timeout 10m -test.run "^$1\$"
}
mapfile -t tests < <("$built/kube" -test.list 'Test[^P]')
for name in "${tests[@]}"; do
    check "$name" one "$name"
done

# ---- podman -----------------------------------------------------------------

mkdir files
"$RUN" --library "$SHIM" --copy-to files
image_or_skip
check 'an image with musl' image musl musl-gcc
check 'an image with the two files' build registry.test/otelctx otelctx.Containerfile
export OTELCTX_TEST_POD=$TMP/admitted.yaml
check 'the policy admits a pod' one TestPodForPodman
podman_pod admitted.yaml >pod.yaml
check 'podman plays it' play play --network none "$TMP/pod.yaml"
for libc in glibc musl; do
    INSIDE=$(inside_of "full-$libc")
    check "$libc: the application has a context" published "$INSIDE"
    same "$libc: with the attributes of the pod" \
        "k8s.container.name=$libc k8s.namespace.name=shop k8s.node.name=the-node k8s.pod.uid=the-uid service.name=shop service.namespace=shop service.version=1.4 shop.motto=50% off, \$(HOME)" \
        "$(resource "$INSIDE" | grep -E '^(k8s.(con|nam|nod|pod.uid)|service|shop)' | sort | xargs)"
done
check 'and it goes' play down "$TMP/pod.yaml"

# ---- the OpenTelemetry injector ----------------------------------------------

# As its source has it: its constructor sets the variable by the setenv of libc.
cat >injector.c <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void inject(void)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "by=injector", 1);
}
END
printf '#include <unistd.h>\nint main(void) { return pause(); }\n' >waits.c
while read -r libc compiler order expected; do
    "$compiler" -shared -fPIC -o "injector_$libc.so" injector.c
    "$compiler" -o "waits_$libc" waits.c
    background env OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES=by=user \
        LD_PRELOAD="$(sed "s|otelctx|$SHIM|; s|injector|$PWD/injector_$libc.so|" <<<"$order")" "./waits_$libc"
    check "$libc: a program with $order has a context" published "$PID"
    same "$libc: $order shows the attributes of the $expected" "by=$expected" \
        "$(resource "$PID" | grep by=)"
done <<'END'
glibc gcc otelctx:injector injector
glibc gcc injector:otelctx user
musl musl-gcc injector:otelctx injector
musl musl-gcc otelctx:injector user
END
done_testing
