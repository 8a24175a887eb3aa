// SPDX-License-Identifier: Apache-2.0

package main

// Says what a goroutine's thread works for. Copy this file.
//
// The idiom: a span is a call. The goroutine is locked to its thread, and the
// record (C's memory, since readers look at it) is swapped in while the call
// lasts, then what was there before is swapped back, also after a panic. When
// another SDK of the program is in the way, the span is not shown. When one is
// there at the end, it may show the record again: then that is never freed.
//
// What Go cannot do: carry a span along with a goroutine, which changes threads
// whenever it likes; hence the lock. While locked, each wait costs two switches
// of threads, and a goroutine started within a span is in none. A program
// without cgo (CGO_ENABLED=0, or any static one) knows no LD_PRELOAD.

/*
#cgo CFLAGS: -I${SRCDIR}/../../../shim
#cgo LDFLAGS: -ldl
#include <otelctx.h>
#include <stdlib.h>

static void attr(struct otelctx_record *record, int key, _GoString_ value)
{
    if (key >= 0)
        otelctx_record_attr(record, (uint8_t)key, _GoStringPtr(value),
                            _GoStringLen(value));
}
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// A KeyIndex is negative when there is no shim, or no room for the key.
type KeyIndex int

// An Attribute of a span.
type Attribute struct {
	Key   KeyIndex
	Value string
}

// Key registers the name of an attribute: once, not for each span.
func Key(name string) KeyIndex {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return KeyIndex(C.otelctx_key(text))
}

var present = C.otelctx_abi() > 0

// InSpan calls work; meanwhile readers see that the thread works for the span.
func InSpan(traceID [16]byte, spanID [8]byte, attributes []Attribute, work func()) {
	if !present {
		work()
		return
	}
	record := (*C.struct_otelctx_record)(C.malloc(C.sizeof_struct_otelctx_record))
	C.otelctx_record_init(record, (*C.uint8_t)(&traceID[0]), (*C.uint8_t)(&spanID[0]), 1)
	for _, a := range attributes {
		C.attr(record, C.int(a.Key), a.Value)
	}

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var outer *C.struct_otelctx_record
	shown := C.otelctx_swap(record, &outer) == 0
	defer func() {
		if !shown || C.otelctx_swap(outer, nil) == 0 {
			C.free(unsafe.Pointer(record))
		}
	}()
	work()
}
