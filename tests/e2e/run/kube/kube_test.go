// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	kyverno "github.com/kyverno/api/api/policies.kyverno.io/v1"
	registration "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const recipes = "../../../../demo/deploy/kubernetes"

const (
	library = "/otelctx/libotelctx_preload.so"
	where   = "service.namespace=shop,k8s.node.name=the-node"
	fixed   = "k8s.namespace{k8s.namespace.name=shop};k8s.pod{k8s.pod.uid=the-uid}[k8s.pod.name=the-pod];"
)

// sources is what the kubelet finds for a pod.
var sources = map[string]string{"metadata.name": "the-pod", "metadata.namespace": "shop",
	"metadata.uid": "the-uid", "spec.nodeName": "the-node", "preload": "/from/a/map.so"}

func read(t *testing.T, path string) []runtime.Object {
	t.Helper()
	objects, err := Read(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return objects
}

// image is what a user puts in the place of the example's.
const image = "registry.test/otelctx"

// policy reads a policy with that image.
func policy(t *testing.T, path string) []runtime.Object {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Decode([]byte(strings.Replace(string(text), "'registry.example/otelctx'",
		"'"+image+"'", 1)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return objects
}

func recipe(t *testing.T) *core.Pod {
	t.Helper()
	return read(t, recipes+"/pod.yaml")[0].(*core.Pod)
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if !equality.Semantic.DeepEqual(want, got) {
		t.Errorf("%s:\nwant %v\ngot  %v", what, want, got)
	}
}

// copies compares what is to be the recipe's in each pod.
func copies(t *testing.T, spec *core.PodSpec) {
	t.Helper()
	want := recipe(t).Spec
	is := func(c *core.Container) bool { return c.Name == "otelctx" }
	first, got := find(want.InitContainers, is), find(spec.InitContainers, is)
	if got == nil {
		t.Fatal("no init container")
	}
	same(t, "arguments", first.Args, got.Args)
	same(t, "mount of the init container", first.VolumeMounts, got.VolumeMounts)
	same(t, "root", true, *got.SecurityContext.RunAsNonRoot)
	same(t, "requests, so that no pod loses its class", got.Resources.Limits,
		got.Resources.Requests)
	named := func(v *core.Volume) bool { return v.Name == "otelctx" }
	volume := find(spec.Volumes, named)
	if volume == nil {
		t.Fatal("no volume")
	}
	same(t, "volume", *find(want.Volumes, named), *volume)

	for i := range spec.Containers {
		container := &spec.Containers[i]
		if got := find(container.VolumeMounts, func(m *core.VolumeMount) bool {
			return m.Name == "otelctx"
		}); got == nil {
			t.Errorf("%s: no mount", container.Name)
		} else {
			same(t, "mount", want.Containers[0].VolumeMounts[0], *got)
		}
		for _, variable := range want.Containers[0].Env {
			if variable.ValueFrom == nil {
				continue
			}
			got := find(container.Env, func(v *core.EnvVar) bool {
				return v.Name == variable.Name
			})
			if got == nil {
				t.Errorf("%s: no %s", container.Name, variable.Name)
			} else if got.Value == "" {
				same(t, variable.Name, variable, *got)
			}
		}
	}
}

func expanded(t *testing.T, spec *core.PodSpec, name string) map[string]string {
	t.Helper()
	container := find(spec.Containers, func(c *core.Container) bool { return c.Name == name })
	set, err := Environment(container, sources)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return set
}

// ---- manifests ---------------------------------------------------------------

func TestStrictDecodingRefusesWhatItDoesNotKnow(t *testing.T) {
	pod := "apiVersion: v1\nkind: Pod\nspec:\n  hostname: a\n"
	for _, text := range []string{pod + "  hostnam: a\n", pod + "  hostname: b\n", "kind: Pod\n"} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("accepted:\n%s", text)
		}
	}
	if _, err := Decode([]byte(pod)); err != nil {
		t.Error(err)
	}
}

func TestEveryManifestDecodesStrictly(t *testing.T) {
	kinds := map[string][]string{}
	err := filepath.Walk(recipes, func(path string, info os.FileInfo, err error) error {
		// Kustomize itself decodes its own file strictly.
		if err != nil || info.IsDir() || info.Name() == "kustomization.yaml" {
			return err
		}
		for _, object := range read(t, path) {
			kinds[info.Name()] = append(kinds[info.Name()],
				object.GetObjectKind().GroupVersionKind().Kind)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "files", map[string][]string{"pod.yaml": {"Pod"}, "template.yaml": {"PodTemplate"},
		"policy.yaml":  {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
		"kyverno.yaml": {"MutatingPolicy"}}, kinds)
}

// ---- kustomize ---------------------------------------------------------------

func write(t *testing.T, files filesys.FileSystem, path, text string) {
	t.Helper()
	if err := files.WriteFile(path, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// overlay builds a kustomization of the workloads with the component, beside
// which it lies; `more` follows.
func overlay(t *testing.T, text, more string) (resmap.ResMap, error) {
	t.Helper()
	files := filesys.MakeFsInMemory()
	for _, name := range []string{"kustomization.yaml", "template.yaml"} {
		content, err := os.ReadFile(filepath.Join(recipes, "component", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, files, "/component/"+name, string(content))
	}
	write(t, files, "/overlay/workloads.yaml", text)
	write(t, files, "/overlay/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\n"+
		"kind: Kustomization\nresources: [workloads.yaml]\ncomponents: [../component]\n"+more)
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/overlay")
}

func kustomized(t *testing.T, text, more string) (string, []runtime.Object) {
	t.Helper()
	built, err := overlay(t, text, more)
	if err != nil {
		t.Fatal(err)
	}
	result, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Decode(result)
	if err != nil {
		t.Fatalf("%v in\n%s", err, result)
	}
	return string(result), objects
}

func workloads(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("cases/workloads.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheComponentPatchesEveryWorkload(t *testing.T) {
	before := read(t, "cases/workloads.yaml")
	_, after := kustomized(t, workloads(t), "")
	same(t, "number of objects", len(before), len(after))
	for i, object := range after {
		name := object.(interface{ GetName() string }).GetName()
		if name == "untouched" {
			same(t, name, before[i], object)
			continue
		}
		t.Run(name, func(t *testing.T) {
			spec := PodSpec(object)
			copies(t, spec)
			bare := expanded(t, spec, "bare")
			same(t, "preload", library+":", bare["LD_PRELOAD"])
			same(t, "entities", fixed, bare["OTEL_ENTITIES"])
		})
	}
}

func TestTheComponentKeepsWhatAContainerHas(t *testing.T) {
	_, after := kustomized(t, workloads(t), "")
	spec := PodSpec(after[0])
	glibc, musl := expanded(t, spec, "glibc"), expanded(t, spec, "musl")
	same(t, "preload", library+":libjemalloc.so", glibc["LD_PRELOAD"])
	same(t, "another name", "another", glibc["MY_LD_PRELOAD"])
	same(t, "entities", fixed+"host{host.id=7}", glibc["OTEL_ENTITIES"])
	same(t, "preload from a map", library+":/from/a/map.so", musl["LD_PRELOAD"])
	same(t, "init containers", 2, len(spec.InitContainers))
	same(t, "volumes", 2, len(spec.Volumes))
	same(t, "mounts", 2, len(spec.Containers[0].VolumeMounts))
}

func TestTheComponentAppliesOnce(t *testing.T) {
	once, _ := kustomized(t, workloads(t), "")
	twice, _ := kustomized(t, once, "")
	same(t, "applied again", once, twice)
}

func TestAnOverlayNamesTheImage(t *testing.T) {
	_, after := kustomized(t, workloads(t),
		"images: [{name: registry.example/otelctx, newName: here/otelctx, newTag: '1'}]\n")
	same(t, "image", "here/otelctx:1", PodSpec(after[1]).InitContainers[0].Image)
}

// ---- policies ----------------------------------------------------------------

func policySpec(t *testing.T) registration.MutatingAdmissionPolicySpec {
	t.Helper()
	objects := policy(t, recipes+"/policy.yaml")
	policy := objects[0].(*registration.MutatingAdmissionPolicy)
	same(t, "the binding's policy", policy.Name,
		objects[1].(*registration.MutatingAdmissionPolicyBinding).Spec.PolicyName)
	return policy.Spec
}

func kyvernosPolicy(t *testing.T) *kyverno.MutatingPolicy {
	t.Helper()
	return policy(t, recipes+"/kyverno.yaml")[0].(*kyverno.MutatingPolicy)
}

func labelled(labels map[string]string) *core.Namespace {
	namespace := &core.Namespace{}
	namespace.Name = "shop"
	namespace.Labels = labels
	return namespace
}

var enabled = map[string]string{"otelctx-injection": "enabled"}

// admit is what a pod becomes by the policy, and by Kyverno's all the same.
func admit(t *testing.T, namespace *core.Namespace, pod *core.Pod) *core.Pod {
	t.Helper()
	policy, err := Compile(policySpec(t))
	if err != nil {
		t.Fatal(err)
	}
	result, err := policy.Admit(namespace, pod)
	if err != nil {
		t.Fatal(err)
	}
	byKyverno, err := CompileKyverno(kyvernosPolicy(t))
	if err != nil {
		t.Fatalf("Kyverno: %v", err)
	}
	other, err := byKyverno.Admit(namespace, pod)
	if err != nil {
		t.Fatalf("Kyverno: %v", err)
	}
	same(t, "Kyverno's pod", result, other)

	text, err := yaml.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Decode(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return objects[0].(*core.Pod)
}

func pod(t *testing.T, index int) *core.Pod {
	t.Helper()
	return read(t, "cases/pods.yaml")[index].(*core.Pod)
}

func TestThePolicyPatchesAPod(t *testing.T) {
	result := admit(t, labelled(enabled), pod(t, 0))
	copies(t, &result.Spec)
	set := expanded(t, &result.Spec, "application")
	same(t, "preload", library, set["LD_PRELOAD"])
	same(t, "entities", fixed+"k8s.container{k8s.container.name=application}",
		set["OTEL_ENTITIES"])
	same(t, "attributes", where, set["OTEL_RESOURCE_ATTRIBUTES"])
	same(t, "image", image, result.Spec.InitContainers[0].Image)
	same(t, "container's name", "application", set["OTEL_INJECTOR_K8S_CONTAINER_NAME"])
}

func TestThePolicyKeepsWhatAPodHas(t *testing.T) {
	before := pod(t, 1)
	result := admit(t, labelled(enabled), before)
	copies(t, &result.Spec)
	same(t, "the first init container", before.Spec.InitContainers[0],
		result.Spec.InitContainers[0])
	same(t, "volumes", 2, len(result.Spec.Volumes))
	glibc := expanded(t, &result.Spec, "glibc")
	same(t, "preload", library+":libjemalloc.so", glibc["LD_PRELOAD"])
	same(t, "attributes", where+",service.version=1.4,shop.motto=50%25 off%2C %24(HOME),team=web",
		glibc["OTEL_RESOURCE_ATTRIBUTES"])
	same(t, "a name of its own", "mine", glibc["OTEL_INJECTOR_K8S_POD_NAME"])
	same(t, "entities", "service{service.name=shop};"+
		strings.Replace(fixed, "the-pod", "mine", 1)+
		"k8s.container{k8s.container.name=glibc};host{host.id=7}", glibc["OTEL_ENTITIES"])
	musl := expanded(t, &result.Spec, "musl")
	same(t, "preload from a map", library+":/from/a/map.so", musl["LD_PRELOAD"])
}

func TestThePolicyAppliesOnce(t *testing.T) {
	once := admit(t, labelled(enabled), pod(t, 1))
	same(t, "applied again", once, admit(t, labelled(enabled), once))

	later := once.DeepCopy()
	later.Spec.Containers = append(later.Spec.Containers, core.Container{Name: "sidecar"})
	result := admit(t, labelled(enabled), later)
	copies(t, &result.Spec)
	same(t, "and a container that comes later has it", library,
		expanded(t, &result.Spec, "sidecar")["LD_PRELOAD"])
	same(t, "the others as they were", once.Spec.Containers, result.Spec.Containers[:2])
}

func TestThePolicyLeavesOthersAlone(t *testing.T) {
	disabled, windows := pod(t, 0), pod(t, 0)
	disabled.Labels = map[string]string{"otelctx-injection": "disabled"}
	windows.Spec.OS = &core.PodOS{Name: core.Windows}
	for name, c := range map[string]struct {
		labels map[string]string
		pod    *core.Pod
	}{
		"a namespace without the label": {nil, pod(t, 0)},
		"a pod that opts out":           {enabled, disabled},
		"Windows":                       {enabled, windows},
	} {
		same(t, name, c.pod.Spec, admit(t, labelled(c.labels), c.pod).Spec)
	}
	unready, err := Compile(read(t, recipes+"/policy.yaml")[0].(*registration.MutatingAdmissionPolicy).Spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := unready.Admit(labelled(enabled), pod(t, 0))
	same(t, "with the image of the example", pod(t, 0).Spec, result.Spec)
	same(t, "and no error", nil, err)
	same(t, "failure", registration.Ignore, *policySpec(t).FailurePolicy)
}

func TestTheComponentsInitContainerIsThePolicys(t *testing.T) {
	template := read(t, recipes+"/component/template.yaml")[0].(*core.PodTemplate)
	result := admit(t, labelled(enabled), pod(t, 0))
	template.Template.Spec.InitContainers[0].Image = image
	same(t, "init container", template.Template.Spec.InitContainers,
		result.Spec.InitContainers)
}

// fields is a part of a specification, as JSON.
func fields(t *testing.T, spec any, names ...string) map[string]any {
	t.Helper()
	text, err := json.Marshal(spec)
	all, part := map[string]any{}, map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if part[name] = all[name]; part[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	return part
}

func TestKyvernosPolicyHasTheSameExpressions(t *testing.T) {
	names := []string{"failurePolicy", "matchConstraints", "matchConditions",
		"mutations", "reinvocationPolicy", "variables"}
	want := fields(t, policySpec(t), names...)
	got := fields(t, kyvernosPolicy(t).Spec, names...)
	if !reflect.DeepEqual(want, got) {
		t.Errorf("want %v\ngot  %v", want, got)
	}
}

// ---- podman ------------------------------------------------------------------

// Podman knows neither $(VARIABLE) nor a namespace: it gets what the kubelet
// would have made of them.
func TestPodForPodman(t *testing.T) {
	path := os.Getenv("OTELCTX_TEST_POD")
	if path == "" {
		t.Skip("kube.sh names the file")
	}
	before := pod(t, 1)
	before.Spec.InitContainers = nil
	before.Spec.Containers[1].Env = nil
	result := admit(t, labelled(enabled), before)
	result.Annotations = nil // podman_pod adds its own
	for i := range result.Spec.Containers {
		container := &result.Spec.Containers[i]
		set, err := Environment(container, sources)
		if err != nil {
			t.Fatal(err)
		}
		container.Env = nil
		for name, value := range set {
			container.Env = append(container.Env, core.EnvVar{Name: name, Value: value})
		}
	}
	text, err := yaml.Marshal(result)
	if err == nil {
		text = regexp.MustCompile(`(?m)^status:.*\n`).ReplaceAll(text, nil)
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
