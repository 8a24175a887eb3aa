// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"
)

// machine fails if the kernel has not what the programs need, or forbids it.
func machine() error {
	for _, need := range []struct {
		what    string
		missing func() error
	}{
		{"BPF programs on tracepoints", func() error {
			return features.HaveProgramHelper(ebpf.TracePoint, asm.FnProbeReadUser)
		}},
		{"BPF programs on perf events", func() error {
			return features.HaveProgramHelper(ebpf.PerfEvent, asm.FnProbeReadUser)
		}},
		{"BPF programs that read the kernel's memory", func() error {
			return features.HaveProgramHelper(ebpf.PerfEvent, asm.FnProbeReadKernel)
		}},
		{"BPF ring buffers", func() error { return features.HaveMapType(ebpf.RingBuf) }},
		{"type information of the kernel", func() error {
			_, err := btf.LoadKernelSpec()
			return err
		}},
		{"perf events of other processes", func() error {
			file, err := clockOf(1)
			unix.Close(file)
			return err
		}},
	} {
		if err := need.missing(); err != nil {
			return fmt.Errorf("machine: no %s: %w", need.what, err)
		}
	}
	return nil
}
