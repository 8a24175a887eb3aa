// SPDX-License-Identifier: Apache-2.0

// Datadog's tracer for Go publishes a process context, and the shim through
// cgo, each in a process of its own:
//
//	peer otelctx|datadog show
//	peer otelctx|datadog measure ROUNDS
//
// The lines are those of pairs.h. The tracer's function is internal to its
// module, and called through its name in the object file.
package main

/*
#cgo CFLAGS: -O2 -D_GNU_SOURCE -I${SRCDIR}/../../../..
#cgo LDFLAGS: -ldl
#include "tests/bench/process_floor.h"

#include "shim/otelctx.h"

static double run_floor_first(unsigned times)
{
    return floor_first(times);
}

static double run_floor_update(unsigned times)
{
    return floor_update(times);
}

static void floor_publish(void)
{
    header = publish_bare();
}

static int publish(void)
{
    return otelctx_process_publish();
}

static int drop(void)
{
    return otelctx_process_drop();
}

static int set_version(char letter)
{
    const char version[] = {letter, '\0'};

    return otelctx_process_set("service.version", version);
}
*/
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	_ "github.com/DataDog/dd-trace-go/v2/ddtrace/tracer"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

//go:linkname publishProcessContext github.com/DataDog/dd-trace-go/v2/internal/otelprocesscontext.PublishProcessContext
func publishProcessContext(context unsafe.Pointer) error

//go:linkname remove github.com/DataDog/dd-trace-go/v2/internal/otelprocesscontext.removeOtelProcessContextMapping
func remove() error

const (
	firstRow  = "Go: first publication"
	updateRow = "Go: update: one attribute"
)

// A subject publishes for the first time, updates and drops.
type subject struct {
	name                  string
	publish, update, drop func()
}

func must(fault error) {
	if fault != nil {
		panic(fault)
	}
}

func zero(result C.int) {
	if result != 0 {
		panic(fmt.Sprint("a call returned ", result))
	}
}

func letters() func() string {
	i := 0
	return func() string {
		i++
		return string(rune('a' + (i-1)%26))
	}
}

func otelctx() subject {
	next := letters()
	publish := func() { zero(C.publish()) }
	return subject{
		"otelctx, through cgo",
		publish,
		func() {
			zero(C.set_version(C.char(next()[0])))
			publish()
		},
		func() { zero(C.drop()) },
	}
}

func text(value string) *commonv1.AnyValue {
	return &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: value}}
}

// The message's type is internal, too, but registered.
func newContext(resource *resourcev1.Resource) protoreflect.Message {
	var context protoreflect.Message

	protoregistry.GlobalTypes.RangeMessages(func(kind protoreflect.MessageType) bool {
		if kind.Descriptor().Name() == "ProcessContext" {
			context = kind.New()
		}
		return context == nil
	})
	field := context.Descriptor().Fields().ByName("resource")
	context.Set(field, protoreflect.ValueOfMessage(resource.ProtoReflect()))
	return context
}

func datadog() subject {
	next := letters()
	version := &commonv1.KeyValue{Key: "service.version", Value: text("1")}
	attributes := []*commonv1.KeyValue{version}
	for _, pair := range [][2]string{
		{"service.name", "bench"},
		{"service.instance.id", "6ba7b810-9dad-41d1-80b4-00c04fd430c8"},
		{"deployment.environment.name", "prod"},
		{"host.name", "bench"},
		{"telemetry.sdk.language", "c"},
		{"telemetry.sdk.name", "libdatadog"},
		{"telemetry.sdk.version", "1"},
	} {
		attributes = append(attributes, &commonv1.KeyValue{Key: pair[0], Value: text(pair[1])})
	}
	context := newContext(&resourcev1.Resource{Attributes: attributes})
	address := reflect.ValueOf(context.Interface()).UnsafePointer()
	publish := func() { must(publishProcessContext(address)) }
	return subject{
		"dd-trace-go",
		publish,
		func() {
			version.Value = text(next())
			publish()
		},
		func() { must(remove()) },
	}
}

func (s subject) show() {
	lines := bufio.NewReader(os.Stdin)

	s.publish()
	fmt.Printf("%s\t%s\npublished\n", firstRow, s.name)
	_, _ = lines.ReadString('\n')
	s.update()
	fmt.Printf("%s\t%s\npublished\n", updateRow, s.name)
	_, _ = lines.ReadString('\n')
}

// What publishes alone is timed.
func (s subject) first(times int) float64 {
	var sum time.Duration

	for i := 0; i < times; i++ {
		s.drop()
		begin := time.Now()
		s.publish()
		sum += time.Since(begin)
	}
	return float64(sum) / float64(times)
}

func (s subject) updates(times int) float64 {
	begin := time.Now()

	for i := 0; i < times; i++ {
		s.update()
	}
	return float64(time.Since(begin)) / float64(times)
}

func measure(row, name string, floor, run func(times int) float64, floorTimes, times, rounds int) {
	before := floor(floorTimes)
	for i := 0; i < rounds; i++ {
		ns := run(times)
		after := floor(floorTimes)
		fmt.Printf("%s\t%s\t%.3f\t%.3f\t%.3f\n", row, name, before, ns, after)
		before = after
	}
}

func main() {
	runtime.LockOSThread()
	s := otelctx()
	if os.Args[1] == "datadog" {
		s = datadog()
	}
	if os.Args[2] == "show" {
		s.show()
		return
	}
	rounds, fault := strconv.Atoi(os.Args[3])
	must(fault)
	time.Sleep(1100 * time.Millisecond) // bench_wait_for_look() of bench.h says why

	floorFirst := func(times int) float64 {
		return float64(C.run_floor_first(C.uint(times))) / float64(times)
	}
	floorUpdate := func(times int) float64 {
		return float64(C.run_floor_update(C.uint(times))) / float64(times)
	}
	s.publish()
	measure(firstRow, s.name, floorFirst, s.first, 8, 8, rounds)
	C.floor_publish()
	measure(updateRow, s.name, floorUpdate, s.updates, 300, 100, rounds)
}
