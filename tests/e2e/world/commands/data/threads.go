// SPDX-License-Identifier: Apache-2.0

// Cgo, so that there is a libc.
package main

// int twice(int n) { return 2 * n; }
import "C"

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
)

func main() {
	var wait sync.WaitGroup
	results := make([]C.int, 16)
	for i := range results {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			runtime.LockOSThread()
			results[i] = C.twice(C.int(i))
		}(i)
	}
	wait.Wait()
	fmt.Println(results)
	out, err := exec.Command("sort", "words").CombinedOutput()
	fmt.Print(string(out), err)
	os.Exit(5)
}
