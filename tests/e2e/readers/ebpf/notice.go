// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"
)

// As in kernel/notice.c.
type event struct {
	AtNs        uint64
	Pid         uint32
	PayloadSize uint32
	Header      struct {
		Signature   [8]byte
		Version     uint32
		PayloadSize uint32
		PublishedNs uint64
		Payload     uint64
	}
	Payload [1024]byte
}

func (e *event) isComplete() bool {
	h := &e.Header
	return string(h.Signature[:]) == "OTEL_CTX" && h.Version == 2 && h.PublishedNs != 0 && h.Payload != 0 &&
		h.PayloadSize > 0 && e.PayloadSize == h.PayloadSize
}

// sighting is an event and the time when this program got it.
type sighting struct {
	event
	gotNs uint64
}

func bootNs() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic(err)
	}
	return uint64(now.Nano())
}

// receive collects what the kernel tells, until the reader is flushed.
func receive(reader *ringbuf.Reader, out chan<- []sighting) {
	var all []sighting
	for {
		var seen sighting
		record, err := reader.Read()
		seen.gotNs = bootNs()
		if err == nil {
			err = binary.Read(bytes.NewReader(record.RawSample), binary.NativeEndian, &seen.event)
		}
		if err != nil {
			out <- all
			return
		}
		all = append(all, seen)
	}
}

func serviceOf(number int) string {
	return fmt.Sprintf("noticed-%06d", number)
}

// start runs the command under so many service names, one after the other, and
// returns the pids.
func start(count int, command []string) ([]uint32, error) {
	var pids []uint32
	for number := range count {
		child := exec.Command(command[0], command[1:]...)
		child.Env = append(os.Environ(), "OTEL_SERVICE_NAME="+serviceOf(number))
		if err := child.Run(); err != nil {
			return nil, err
		}
		pids = append(pids, uint32(child.Process.Pid))
	}
	return pids, nil
}

// check says what is wrong about the only context that a process published, as
// it was noticed: it has to be complete, and that of this process.
func check(published []sighting, service string) error {
	if len(published) != 1 {
		return fmt.Errorf("noticed %d times", len(published))
	}
	seen := &published[0]
	if !seen.isComplete() {
		return fmt.Errorf("incomplete: %+v", seen.Header)
	}
	if !bytes.Contains(seen.Payload[:seen.PayloadSize], []byte(service)) {
		return errors.New("the payload is another's")
	}
	return nil
}

// compare tells what was noticed of the processes. A context that is withdrawn
// is noticed, too: here one without a name, which the kernel refused.
func compare(pids []uint32, all []sighting) error {
	var inKernel, here []uint64
	published := map[uint32][]sighting{}
	for _, seen := range all {
		if seen.Header.PublishedNs != 0 {
			published[seen.Pid] = append(published[seen.Pid], seen)
		}
	}
	for number, pid := range pids {
		err := check(published[pid], serviceOf(number))
		if err == nil {
			seen := &published[pid][0]
			inKernel = append(inKernel, seen.AtNs-seen.Header.PublishedNs)
			here = append(here, seen.gotNs-seen.Header.PublishedNs)
		} else if number-len(here) < 10 {
			fmt.Printf("process %d, %s: %v\n", pid, serviceOf(number), err)
		}
	}
	fmt.Printf("%d of %d processes noticed; from the timestamp to the hook %s, to the profiler %s\n",
		len(here), len(pids), spread(inKernel), spread(here))
	if len(here) < len(pids) {
		return errors.New("processes were missed or misread")
	}
	return nil
}

func spread(ns []uint64) string {
	if len(ns) == 0 {
		return "-"
	}
	slices.Sort(ns)
	us := func(percent int) uint64 { return ns[(len(ns)-1)*percent/100] / 1000 }
	return fmt.Sprintf("%d us (99 %%: %d, longest: %d)", us(50), us(99), us(100))
}

func notice(folder, countText string, command []string) error {
	var namespace unix.Stat_t
	count, err := strconv.Atoi(countText)
	if err != nil {
		return err
	}
	if err := unix.Stat("/proc/self/ns/pid", &namespace); err != nil {
		return err
	}
	programs, err := load(folder, "notice.o", map[string]any{
		"namespace_device": namespace.Dev, "namespace_inode": namespace.Ino,
	})
	if err != nil {
		return err
	}
	defer programs.Close()
	reader, err := ringbuf.NewReader(programs.Maps["events"])
	if err != nil {
		return err
	}
	defer reader.Close()
	hook, err := link.Tracepoint("syscalls", "sys_enter_prctl", programs.Programs["notice"], nil)
	if err != nil {
		return err
	}
	return observe(programs, reader, hook, count, command)
}

func observe(programs *ebpf.Collection, reader *ringbuf.Reader, hook link.Link, count int, command []string) error {
	sightings := make(chan []sighting)
	go receive(reader, sightings)
	pids, err := start(count, command)
	hook.Close()
	flushed := reader.Flush() // once it has read what there is
	all := <-sightings
	return errors.Join(err, flushed, lost(programs), compare(pids, all))
}

func lost(programs *ebpf.Collection) error {
	var unreadable, dropped uint64
	if err := errors.Join(programs.Variables["unreadable"].Get(&unreadable),
		programs.Variables["dropped"].Get(&dropped)); err != nil {
		return err
	}
	if unreadable > 0 {
		fmt.Printf("%d names could not be read\n", unreadable)
	}
	if dropped > 0 {
		return fmt.Errorf("%d events had no room", dropped)
	}
	return nil
}
