// SPDX-License-Identifier: Apache-2.0

// Three goroutines serve a request each, and each says so to readers outside.
//
//	go build
//	LD_PRELOAD=libotelctx_preload.so ./worker hold
//	otelctx-read --threads PID                      (in another terminal)
package main

import (
	"bufio"
	"fmt"
	"os"
)

const workers = 3

var (
	route     = Key("http.route")
	user      = Key("user.id")
	operation = Key("db.operation.name")
)

var (
	hold    = len(os.Args) > 1 && os.Args[1] == "hold"
	lookers = make(chan chan struct{})
)

// With `hold`: waits here for the others, and then for main to go on.
func lookHere() {
	if hold {
		goOn := make(chan struct{})
		lookers <- goOn
		<-goOn
	}
}

// A tracer makes up ids; by these one sees who is who.
func ids(number, level byte) (traceID [16]byte, spanID [8]byte) {
	for i := range traceID {
		traceID[i] = number
	}
	for i := range spanID {
		spanID[i] = level + number
	}
	return
}

func query(number byte) (rows int) {
	traceID, spanID := ids(number, 0x20)
	InSpan(traceID, spanID, []Attribute{{operation, "SELECT"}}, func() {
		lookHere()
		rows = 10 * int(number)
	})
	return
}

func serve(number byte) (rows int) {
	traceID, spanID := ids(number, 0x10)
	attributes := []Attribute{
		{route, "/cart"},
		{user, fmt.Sprint("user-", number)},
	}
	InSpan(traceID, spanID, attributes, func() {
		rows = query(number)
		lookHere() // the request's own context is back
	})
	lookHere()
	return
}

func main() {
	var results [workers]chan int
	for i := range results {
		result := make(chan int)
		results[i] = result
		number := byte(i + 1)
		go func() { result <- serve(number) }()
	}
	if hold {
		lines := bufio.NewReader(os.Stdin)
		for _, what := range []string{"query", "request", "idle"} {
			var waiting [workers]chan struct{}
			for i := range waiting {
				waiting[i] = <-lookers
			}
			fmt.Println(what)
			_, _ = lines.ReadString('\n') // or the end of stdin
			for _, goOn := range waiting {
				close(goOn)
			}
		}
	}
	for i, result := range results {
		fmt.Printf("worker %d: %d rows\n", i+1, <-result)
	}
}
