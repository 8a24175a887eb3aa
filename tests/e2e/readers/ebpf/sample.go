// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

const periodNs = 20000 // of a thread's processor time

// As in kernel/sample.c.
type counts struct {
	Whole, Detached, Invalid, Unreadable, Mixed uint64
}

func (c counts) all() uint64 {
	return c.Whole + c.Detached + c.Invalid + c.Unreadable + c.Mixed
}

// clockOf opens an event that comes each time that the thread has run so long.
func clockOf(tid int) (int, error) {
	attributes := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Size:   unix.PERF_ATTR_SIZE_VER0,
		Sample: periodNs,
	}
	return unix.PerfEventOpen(&attributes, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// attach has the program run at the samples of a thread, until the file is
// closed.
func attach(program *ebpf.Program, tid int) (int, error) {
	file, err := clockOf(tid)
	if err != nil {
		return -1, err
	}
	return file, unix.IoctlSetInt(file, unix.PERF_EVENT_IOC_SET_BPF, program.FD())
}

func attachAll(program *ebpf.Program, pid string) (files []int, err error) {
	threads, err := os.ReadDir("/proc/" + pid + "/task")
	if err != nil {
		return nil, err
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil {
			return files, err
		}
		file, err := attach(program, tid)
		if err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}

func sample(folder, pid, offsetText, samplesText string) error {
	offset, err := strconv.ParseInt(offsetText, 10, 64)
	if err != nil {
		return err
	}
	samples, err := strconv.ParseUint(samplesText, 10, 64)
	if err != nil {
		return err
	}
	programs, err := load(folder, "sample.o", map[string]any{"offset": offset})
	if err != nil {
		return err
	}
	defer programs.Close()

	begin := time.Now()
	files, err := attachAll(programs.Programs["sample"], pid)
	var found counts
	for err == nil && found.all() < samples && found.Mixed == 0 {
		time.Sleep(10 * time.Millisecond)
		if _, gone := os.Stat("/proc/" + pid); gone != nil {
			return gone
		}
		err = programs.Variables["counts"].Get(&found)
	}
	seconds := time.Since(begin).Seconds()
	for _, file := range files {
		unix.Close(file)
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d samples of %d threads in %.1f s: %d whole, %d detached, %d not valid, %d unreadable, %d mixed\n",
		found.all(), len(files), seconds, found.Whole, found.Detached, found.Invalid, found.Unreadable, found.Mixed)
	return judge(programs, found)
}

func judge(programs *ebpf.Collection, found counts) error {
	switch {
	case found.Mixed > 0:
		var record [40]byte
		return errors.Join(programs.Variables["first_mixed"].Get(&record), fmt.Errorf("mixed: %x", record))
	case found.Whole == 0 || found.Detached == 0 || found.Invalid == 0:
		return errors.New("a state was never met")
	}
	return nil
}
