// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.opentelemetry.io/ebpf-profiler/libc"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/libpf/pfelf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/remotememory"
	common "go.opentelemetry.io/proto/otlp/common/v1"
)

// The profiler's releases do not read this variable yet, but one of Elastic's
// that is found in the same way: its interpreter/apmint is the example here.
const symbol = "otel_thread_ctx_v1"

const headSize = 28 // OTEP 4947, "Thread-Local Context Record"

type variable struct {
	descriptor libpf.Address // of TLS, in the process
	dtv        libc.DTVInfo
}

// What an object of the process says about the variable.
func (v *variable) examine(m process.RawMapping, ef *pfelf.File) error {
	if libc.IsPotentialLibcDSO(m.Path) {
		if info, err := libc.ExtractLibcInfo(ef); err == nil && info.HasDTVInfo() {
			v.dtv = info.DTVInfo
		}
	}
	sym, err := ef.LookupSymbol(symbol)
	if err != nil {
		return nil // has none
	}
	if sym.Size != 8 {
		return fmt.Errorf("%s: %d bytes", m.Path, sym.Size)
	}
	mapper := ef.GetAddressMapper()
	start, ok := mapper.FileOffsetToVirtualAddress(m.FileOffset)
	if !ok {
		return fmt.Errorf("%s: offset %#x is in no segment", m.Path, m.FileOffset)
	}
	return ef.VisitTLSRelocations(func(r pfelf.ElfReloc, name string) bool {
		if name == symbol {
			v.descriptor = libpf.Address(m.Vaddr - start + r.Off)
		}
		return name != symbol
	})
}

func locate(pr process.Process) (v variable, err error) {
	_, failed := pr.IterateMappings(func(m process.RawMapping) bool {
		if !m.IsExecutable() || !m.IsFileBacked() {
			return true
		}
		ef, opened := process.OpenELFMapping(pr, &m)
		if opened != nil {
			return true
		}
		defer ef.Close()
		err = v.examine(m, ef)
		return err == nil
	})
	if err == nil {
		err = failed
	}
	if err == nil && v.descriptor == 0 {
		err = errors.New("no TLS descriptor")
	}
	return
}

// The descriptor's second word is an offset from the thread pointer, or the
// address of {module, offset} when the object was opened late. 0 if the thread
// has not used it then.
func (v variable) slot(rm remotememory.RemoteMemory, tp uint64) libpf.Address {
	word := rm.Uint64(v.descriptor + 8)
	if offset := int64(word); offset <= 0xffffffff {
		return libpf.Address(tp + word)
	}
	module, offset := rm.Uint64(libpf.Address(word)), rm.Uint64(libpf.Address(word+8))
	dtv := rm.Ptr(libpf.Address(int64(tp) + int64(v.dtv.Offset)))
	block := rm.Ptr(dtv + libpf.Address(module*uint64(v.dtv.Multiplier)))
	if block == 0 || block == ^libpf.Address(0) {
		return 0
	}
	return block + libpf.Address(offset)
}

func keyMap(attributes []*common.KeyValue) []string {
	for _, kv := range attributes {
		if kv.Key == "threadlocal.attribute_key_map" {
			return texts(kv.Value.GetArrayValue())
		}
	}
	return nil
}

func attached(rm remotememory.RemoteMemory, slot libpf.Address, keys []string) (string, error) {
	var pointer [8]byte
	var head [headSize]byte
	if slot != 0 {
		if err := rm.Read(slot, pointer[:]); err != nil {
			return "", err
		}
	}
	record := libpf.Address(binary.NativeEndian.Uint64(pointer[:]))
	if record == 0 {
		return "-", nil
	}
	if err := rm.Read(record, head[:]); err != nil {
		return "", err
	}
	if head[24] != 1 {
		return "invalid", nil
	}
	rest := make([]byte, binary.NativeEndian.Uint16(head[26:]))
	if err := rm.Read(record+headSize, rest); err != nil {
		return "", err
	}
	text := fmt.Sprintf("%x %x %02x", head[:16], head[16:24], head[25])
	for len(rest) > 0 {
		if len(rest) < 2 || len(rest) < 2+int(rest[1]) {
			return "", fmt.Errorf("incomplete attribute: %x", rest)
		}
		key, value := int(rest[0]), rest[2:2+int(rest[1])]
		if key < len(keys) {
			text += fmt.Sprintf(" %s=%s", keys[key], value)
		}
		rest = rest[2+len(value):]
	}
	return text, nil
}

// showThreads prints "NAME TRACE_ID SPAN_ID FLAGS KEY=VALUE..." of each, the
// main thread first, or "NAME -".
func showThreads(pid libpf.PID, attributes []*common.KeyValue) error {
	pr, err := process.NewPtrace(pid)
	if err != nil {
		return err
	}
	defer pr.Close()
	v, err := locate(pr)
	if err != nil {
		return err
	}
	threads, err := pr.GetThreads()
	if err != nil {
		return err
	}
	for _, thread := range threads {
		rm := pr.GetRemoteMemory()
		text, err := attached(rm, v.slot(rm, thread.TPBase), keyMap(attributes))
		if err != nil {
			return err
		}
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, thread.LWP))
		fmt.Println(strings.TrimSpace(string(comm)), text)
	}
	return nil
}
