// The files of Kyverno that compile and evaluate a policy: ../../kube.sh lists them.
module github.com/kyverno/kyverno

go 1.26.0

// As in Kyverno's own go.mod. With k8s.io/apiserver v0.37 Kyverno does not compile.
require (
	github.com/gobwas/glob v0.2.3
	github.com/google/cel-go v0.30.0
	github.com/google/go-containerregistry v0.21.8
	github.com/kyverno/sdk v0.0.0-20260825082632-68d74afcb07a
	go.uber.org/multierr v1.11.0
	k8s.io/apiserver v0.36.3
)
