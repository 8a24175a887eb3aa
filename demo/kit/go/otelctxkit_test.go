// SPDX-License-Identifier: Apache-2.0

package otelctxkit

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func maps(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	return string(text)
}

func TestAProcessPublishesUntilTheTestEnds(t *testing.T) {
	var pid int
	t.Run("stage", func(t *testing.T) {
		stage := Start(t, "payload/int")
		pid = stage.PID
		if stage.Expect.Answer != "context" || stage.Expect.Resource["k"] != 42.0 {
			t.Errorf("%+v", stage)
		}
		if !strings.Contains(maps(pid), "OTEL_CTX") {
			t.Error("it has no context")
		}
	})
	if maps(pid) != "" {
		t.Error("it outlives the test")
	}
}

func TestThreadsAreTold(t *testing.T) {
	stage := Start(t, "records/ordinary")
	thread := stage.Expect.Threads[0]
	if thread.TID != stage.TIDs[0] || len(thread.TraceID) != 32 ||
		thread.Attributes["http.route"] != "/cart" {
		t.Errorf("%+v", stage)
	}
}

// A test of another program: a scenario that cannot be staged skips it.
func TestWhatCannotBeStagedIsSkipped(t *testing.T) {
	var skipped bool
	t.Run("named", func(t *testing.T) {
		t.Cleanup(func() { skipped = t.Skipped() })
		stage := Start(t, "mapping/anonymous-named")
		if !strings.Contains(maps(stage.PID), "[anon:OTEL_CTX]") {
			t.Error("it has no name")
		}
	})
	t.Log("skipped:", skipped)
}
