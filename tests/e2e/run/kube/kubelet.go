// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"
	"regexp"

	core "k8s.io/api/core/v1"
)

var reference = regexp.MustCompile(`\$\$|\$\(([^)]*)\)`)

// Environment is what the kubelet makes of a container's: a value may refer to the
// variables before it. `from` has the values of sources, by their key or path.
func Environment(container *core.Container, from map[string]string) (map[string]string, error) {
	set := map[string]string{}

	for _, variable := range container.Env {
		if _, twice := set[variable.Name]; twice {
			return nil, fmt.Errorf("%s is there twice", variable.Name)
		}
		switch source := variable.ValueFrom; {
		case source == nil:
			set[variable.Name] = reference.ReplaceAllStringFunc(variable.Value,
				func(text string) string {
					if text == "$$" {
						return "$"
					}
					if value, known := set[text[2:len(text)-1]]; known {
						return value
					}
					return text
				})
		case variable.Value != "":
			return nil, fmt.Errorf("%s has a value and a source", variable.Name)
		case source.FieldRef != nil:
			set[variable.Name] = from[source.FieldRef.FieldPath]
		case source.ConfigMapKeyRef != nil:
			set[variable.Name] = from[source.ConfigMapKeyRef.Key]
		}
	}
	return set, nil
}
