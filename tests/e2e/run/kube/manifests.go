// SPDX-License-Identifier: Apache-2.0

// Package kube applies the recipes in demo/deploy/kubernetes as a cluster would.
package kube

import (
	"bytes"
	"errors"
	"io"
	"os"

	kyverno "github.com/kyverno/api/api/policies.kyverno.io/v1"
	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

var scheme = runtime.NewScheme()

// strict refuses unknown and duplicate fields.
var strict = serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()

func init() {
	for _, add := range []func(*runtime.Scheme) error{
		admission.AddToScheme, apps.AddToScheme, batch.AddToScheme, core.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	scheme.AddKnownTypes(schema.GroupVersion{Group: "policies.kyverno.io", Version: "v1"},
		&kyverno.MutatingPolicy{})
}

// Decode strictly decodes each document of a YAML stream.
func Decode(text []byte) ([]runtime.Object, error) {
	var objects []runtime.Object

	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer documents.Close()
	for {
		document := make([]byte, len(text)+1)
		size, err := documents.Read(document)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := strict.Decode(document[:size], nil, nil)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// Read strictly decodes a file.
func Read(path string) ([]runtime.Object, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(text)
}

// PodSpec is the one of a pod, or in a workload's template.
func PodSpec(object runtime.Object) *core.PodSpec {
	switch object := object.(type) {
	case *core.Pod:
		return &object.Spec
	case *apps.Deployment:
		return &object.Spec.Template.Spec
	case *apps.StatefulSet:
		return &object.Spec.Template.Spec
	case *apps.DaemonSet:
		return &object.Spec.Template.Spec
	case *apps.ReplicaSet:
		return &object.Spec.Template.Spec
	case *batch.Job:
		return &object.Spec.Template.Spec
	case *batch.CronJob:
		return &object.Spec.JobTemplate.Spec.Template.Spec
	}
	return nil
}
