// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	registration "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

var (
	podKind     = core.SchemeGroupVersion.WithKind("Pod")
	podResource = core.SchemeGroupVersion.WithResource("pods")
)

type expression struct {
	name, text string
	types      []*cel.Type
}

func (e expression) GetName() string          { return e.name }
func (e expression) GetExpression() string    { return e.text }
func (e expression) ReturnTypes() []*cel.Type { return e.types }

// Policy is a MutatingAdmissionPolicy that the API server's compiler compiled, in
// the steps of compilePolicy in k8s.io/apiserver's policy/mutating, which is not
// exported.
type Policy struct {
	constraints *registration.MatchResources
	compiler    *plugincel.CompositedCompiler
	conditions  plugincel.ConditionEvaluator
	patchers    []patch.Patcher
}

// Compile compiles all expressions of a policy.
func Compile(spec registration.MutatingAdmissionPolicySpec) (*Policy, error) {
	compiler, err := plugincel.NewCompositedCompiler(
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	options := plugincel.OptionalVariableDeclarations{}
	for _, variable := range spec.Variables {
		result := compiler.CompileAndStoreVariable(expression{variable.Name,
			variable.Expression, []*cel.Type{cel.AnyType, cel.DynType}},
			options, environment.StoredExpressions)
		if result.Error != nil {
			return nil, result.Error
		}
	}

	var conditions []plugincel.ExpressionAccessor
	for _, condition := range spec.MatchConditions {
		conditions = append(conditions, expression{condition.Name,
			condition.Expression, []*cel.Type{cel.BoolType}})
	}
	policy := &Policy{constraints: spec.MatchConstraints, compiler: compiler}
	policy.conditions = compiler.CompileCondition(conditions, options,
		environment.StoredExpressions)
	failures := policy.conditions.CompilationErrors()

	options.HasPatchTypes = true
	for _, mutation := range spec.Mutations {
		if mutation.PatchType != registration.PatchTypeJSONPatch {
			return nil, errors.New("the only patches here are JSONPatch")
		}
		evaluator := compiler.CompileMutatingEvaluator(
			&patch.JSONPatchCondition{Expression: mutation.JSONPatch.Expression},
			options, environment.StoredExpressions)
		failures = append(failures, evaluator.CompilationErrors()...)
		policy.patchers = append(policy.patchers, patch.NewJSONPatcher(evaluator))
	}
	return policy, errors.Join(failures...)
}

func selects(selector *meta.LabelSelector, set map[string]string) (bool, error) {
	parsed, err := meta.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set)), err
}

func constrains(constraints *registration.MatchResources, namespace *core.Namespace,
	pod *core.Pod, attributes admission.Attributes) (bool, error) {
	inNamespace, err := selects(constraints.NamespaceSelector, namespace.Labels)
	if err != nil || !inNamespace {
		return false, err
	}
	object, err := selects(constraints.ObjectSelector, pod.Labels)
	if err != nil || !object {
		return false, err
	}
	for _, rule := range constraints.ResourceRules {
		matcher := rules.Matcher{Rule: rule.RuleWithOperations, Attr: attributes}
		if matcher.Matches() {
			return true, nil
		}
	}
	return false, nil
}

// Admit is what a pod that is created there becomes.
func (p *Policy) Admit(namespace *core.Namespace, pod *core.Pod) (*core.Pod, error) {
	pod = pod.DeepCopy()
	pod.SetGroupVersionKind(podKind)
	attributes := admission.NewAttributesRecord(pod, nil, podKind, namespace.Name,
		pod.Name, podResource, "", admission.Create, &meta.CreateOptions{}, false, nil)
	versioned := &admission.VersionedAttributes{Attributes: attributes,
		VersionedKind: podKind, VersionedObject: pod}
	matches, err := constrains(p.constraints, namespace, pod, attributes)
	if err != nil || !matches {
		return pod, err
	}

	ctx := p.compiler.CreateContext(context.Background())
	results, _, err := p.conditions.ForInput(ctx, versioned,
		plugincel.CreateAdmissionRequest(attributes, meta.GroupVersionResource(podResource),
			meta.GroupVersionKind(podKind)),
		plugincel.OptionalVariableBindings{}, namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, err
	}
	for _, result := range results {
		if result.Error != nil || result.EvalResult != celtypes.True {
			return pod, result.Error
		}
	}
	for _, patcher := range p.patchers {
		object, err := patcher.Patch(ctx, patch.Request{
			MatchedResource: schema.GroupVersionResource(podResource), VersionedAttributes: versioned,
			ObjectInterfaces: admission.NewObjectInterfacesFromScheme(scheme),
			Namespace:        namespace,
		}, celconfig.RuntimeCELCostBudget)
		if err != nil {
			return nil, err
		}
		versioned.VersionedObject = object
		pod = object.(*core.Pod)
	}
	return pod, nil
}
