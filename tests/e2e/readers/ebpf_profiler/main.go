// SPDX-License-Identifier: Apache-2.0

// Reads the process context of PID with the packages of the OpenTelemetry eBPF
// profiler, as its process manager does: prints key=value, then "--" and the
// extra attributes. With a COUNT it reads that often, prints nothing, and
// fails at the first error that is not a concurrent update.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/processcontext"
	common "go.opentelemetry.io/proto/otlp/common/v1"
)

// As in processmanager: of several mappings the last one.
func find(pr process.Process) (address libpf.Address, found bool) {
	pr.IterateMappings(func(m process.RawMapping) bool {
		if processcontext.IsContextMapping(m.IsExecutable(), m.Path) {
			address, found = libpf.Address(m.Vaddr), true
		}
		return true
	})
	return
}

func show(attributes []*common.KeyValue) {
	for _, kv := range attributes {
		fmt.Printf("%s=%s\n", kv.Key, kv.Value.GetStringValue())
	}
}

func run(pid, count int) error {
	pr := process.New(libpf.PID(pid), libpf.PID(pid))
	address, found := find(pr)
	if !found {
		return errors.New("no mapping")
	}
	if count == 0 {
		info, err := processcontext.Read(address, pr.GetRemoteMemory(), 0, 0)
		if err != nil {
			return err
		}
		show(info.Context.Resource.Attributes)
		fmt.Println("--")
		show(info.Context.ExtraAttributes)
		return nil
	}
	reads := 0
	for last := uint64(0); reads < count; {
		info, err := processcontext.Read(address, pr.GetRemoteMemory(), last, 0)
		switch {
		case err == nil:
			reads++
			last = info.PublishedAtNs
		case errors.Is(err, processcontext.ErrConcurrentUpdate),
			errors.Is(err, processcontext.ErrNoUpdate):
		default:
			return err
		}
	}
	return nil
}

func main() {
	pid, _ := strconv.Atoi(os.Args[1])
	count := 0
	if len(os.Args) > 2 {
		count, _ = strconv.Atoi(os.Args[2])
	}
	if err := run(pid, count); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
