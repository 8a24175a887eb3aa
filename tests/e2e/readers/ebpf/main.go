// SPDX-License-Identifier: Apache-2.0

// A profiler in small: the parts that run in the kernel notice that a process
// publishes its context, and read the contexts of threads.
//
//	ebpf KERNEL machine
//	ebpf KERNEL notice COUNT COMMAND...
//	ebpf KERNEL sample PID OFFSET SAMPLES
//
// KERNEL is the folder of the compiled programs.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cilium/ebpf"
)

var errUsage = errors.New("usage: ebpf KERNEL machine | notice COUNT COMMAND... | sample PID OFFSET SAMPLES")

// load loads the programs of a file, with its constants set.
func load(folder, name string, constants map[string]any) (*ebpf.Collection, error) {
	spec, err := ebpf.LoadCollectionSpec(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	for name, value := range constants {
		if err := spec.Variables[name].Set(value); err != nil {
			return nil, err
		}
	}
	return ebpf.NewCollection(spec)
}

func run(arguments []string) error {
	if len(arguments) < 2 {
		return errUsage
	}
	folder, command, rest := arguments[0], arguments[1], arguments[2:]
	switch {
	case command == "machine" && len(rest) == 0:
		return machine()
	case command == "notice" && len(rest) >= 2:
		return notice(folder, rest[0], rest[1:])
	case command == "sample" && len(rest) == 3:
		return sample(folder, rest[0], rest[1], rest[2])
	}
	return errUsage
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
