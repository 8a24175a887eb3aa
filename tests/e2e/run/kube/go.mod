module otelctx/tests/e2e/run/kube

go 1.26.2

require (
	github.com/google/cel-go v0.30.0
	github.com/kyverno/api v0.0.1-alpha.3.0.20260723090831-fb2785727f98
	github.com/kyverno/kyverno v1.19.1
	k8s.io/api v0.36.3
	k8s.io/apimachinery v0.36.3
	k8s.io/apiserver v0.36.3
	sigs.k8s.io/kustomize/api v0.21.1
	sigs.k8s.io/kustomize/kyaml v0.21.1
	sigs.k8s.io/yaml v1.6.0
)

replace github.com/kyverno/kyverno => ./kyverno
