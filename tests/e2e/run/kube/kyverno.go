// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"

	kyverno "github.com/kyverno/api/api/policies.kyverno.io/v1"
	kyvernobeta "github.com/kyverno/api/api/policies.kyverno.io/v1beta1"
	"github.com/kyverno/kyverno/pkg/cel/policies/mpol/compiler"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
)

// MutatingPolicy is Kyverno's, compiled by Kyverno's own compiler.
type MutatingPolicy struct {
	compiled *compiler.Policy
}

// CompileKyverno compiles all expressions of a policy.
func CompileKyverno(policy *kyverno.MutatingPolicy) (*MutatingPolicy, error) {
	compiled, failures := compiler.NewCompiler().Compile(&kyvernobeta.MutatingPolicy{
		TypeMeta: policy.TypeMeta, ObjectMeta: policy.ObjectMeta, Spec: policy.Spec}, nil)
	return &MutatingPolicy{compiled}, failures.ToAggregate()
}

// noSchemas: a JSON patch needs none.
type noSchemas struct{}

func (noSchemas) GetTypeConverter(schema.GroupVersionKind) managedfields.TypeConverter {
	return nil
}

// Admit is what a pod that is created there becomes.
func (p *MutatingPolicy) Admit(namespace *core.Namespace, pod *core.Pod) (*core.Pod, error) {
	pod = pod.DeepCopy()
	pod.SetGroupVersionKind(podKind)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return nil, err
	}
	attributes := admission.NewAttributesRecord(&unstructured.Unstructured{Object: fields}, nil,
		podKind, namespace.Name, pod.Name, podResource, "", admission.Create,
		&meta.CreateOptions{}, false, nil)
	matches, err := constrains(p.compiled.MatchConstraints(), namespace, pod, attributes)
	if err != nil || !matches {
		return pod, err
	}

	request := plugincel.CreateAdmissionRequest(attributes,
		meta.GroupVersionResource(podResource), meta.GroupVersionKind(podKind))
	result := p.compiled.Evaluate(context.Background(), attributes, namespace, *request,
		noSchemas{}, nil)
	if result == nil { // a condition does not hold
		return pod, nil
	}
	if result.Error != nil {
		return nil, result.Error
	}
	admitted := &core.Pod{}
	return admitted, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(
		result.PatchedResource.Object, admitted, true)
}
