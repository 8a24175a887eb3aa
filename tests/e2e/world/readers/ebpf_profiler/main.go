// SPDX-License-Identifier: Apache-2.0

// Reads the process context of PID with the packages of the OpenTelemetry eBPF
// profiler, as its process manager does: prints key=value, then "--" and the
// extra attributes. With "threads" it prints the contexts of the threads, with
// "json" the whole process context as protojson does. With a COUNT it reads that
// often, prints nothing, and fails at the first error that is not a concurrent
// update.
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
	"google.golang.org/protobuf/encoding/protojson"
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
		value := kv.Value.GetStringValue()
		if list := kv.Value.GetArrayValue(); list != nil {
			value = fmt.Sprint(texts(list))
		}
		fmt.Printf("%s=%s\n", kv.Key, value)
	}
}

func texts(list *common.ArrayValue) (all []string) {
	for _, value := range list.Values {
		all = append(all, value.GetStringValue())
	}
	return
}

func run(pid libpf.PID, what string) error {
	pr := process.New(pid, pid)
	address, found := find(pr)
	if !found {
		return errors.New("no mapping")
	}
	if count, err := strconv.Atoi(what); err == nil {
		return readOften(pr, address, count)
	}
	info, err := processcontext.Read(address, pr.GetRemoteMemory(), 0, 0)
	if err != nil {
		return err
	}
	switch what {
	case "threads":
		return showThreads(pid, info.Context.Attributes)
	case "json":
		text, err := protojson.Marshal(info.Context)
		fmt.Println(string(text))
		return err
	}
	show(info.Context.Resource.Attributes)
	fmt.Println("--")
	show(info.Context.Attributes)
	return nil
}

func readOften(pr process.Process, address libpf.Address, count int) error {
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
	what := "process"
	if len(os.Args) > 2 {
		what = os.Args[2]
	}
	if err := run(libpf.PID(pid), what); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
