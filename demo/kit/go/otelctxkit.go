// SPDX-License-Identifier: Apache-2.0

// Package otelctxkit starts a scenario of otelctx-play for the time of a test.
package otelctxkit

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// Context is what a right reader answers: see otelctx-verdict(5).
type Context struct {
	Answer   string         `json:"answer"` // "context", "none" or "either"
	Check    string         `json:"check"`
	Resource map[string]any `json:"resource"` // nil: not judged
	Extra    map[string]any `json:"extra"`
	Threads  []Thread       `json:"threads"`
	Ring     []Thread       `json:"ring"`
}

// Thread is the context of one thread.
type Thread struct {
	TID        int            `json:"tid"`
	Answer     string         `json:"answer"`
	Check      string         `json:"check"`
	TraceID    string         `json:"trace_id"`
	SpanID     string         `json:"span_id"`
	TraceFlags int            `json:"trace_flags"`
	Attributes map[string]any `json:"attributes"`
}

// Stage is a process that publishes as a scenario says.
type Stage struct {
	Scenario string            `json:"scenario"`
	PID      int               `json:"pid"`
	TIDs     []int             `json:"tids"`
	At       map[string]string `json:"at"` // addresses
	Expect   Context           `json:"expect"`
}

const notStaged = 77

// Start stages the scenario until the test ends. The program is otelctx-play in
// the PATH, or $OTELCTX_PLAY. A scenario that this machine cannot stage skips
// the test.
func Start(t testing.TB, scenario string) Stage {
	t.Helper()
	program := os.Getenv("OTELCTX_PLAY")
	if program == "" {
		program = "otelctx-play"
	}
	command := exec.Command(program, scenario)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		fail(t, command.Wait())
	}
	t.Cleanup(func() {
		input.Close()
		command.Wait()
	})
	var stage Stage
	if err := json.Unmarshal(line, &stage); err != nil {
		t.Fatal(err)
	}
	return stage
}

func fail(t testing.TB, err error) {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == notStaged {
		t.Skip("this machine cannot stage it")
	}
	t.Fatal(err)
}
