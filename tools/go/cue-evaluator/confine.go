package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
)

const (
	maxData  = 256 << 20
	maxHeap  = 192 << 20 // of the same, before the garbage collector works harder
	maxStack = 32 << 20
	// In seconds: a process whose parent died ends by itself. The parent's deadline comes long before.
	maxCPU   = 10
	maxFiles = 8 // the three standard ones, and what Go's own runtime opens
	threads  = 2
)

// confine leaves the process no variable to read, no file to open and no more memory or time than an evaluation may take.
// Nothing here is a promise of CUE's: it holds for whatever a module makes of it.
func confine() error {
	os.Clearenv()
	runtime.GOMAXPROCS(threads)
	debug.SetMemoryLimit(maxHeap)
	debug.SetMaxStack(maxStack)
	debug.SetTraceback("none")
	for _, limit := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"memory", syscall.RLIMIT_DATA, maxData},
		{"time", syscall.RLIMIT_CPU, maxCPU},
		{"open files", syscall.RLIMIT_NOFILE, maxFiles},
		{"written files", syscall.RLIMIT_FSIZE, 0},
		{"core dumps", syscall.RLIMIT_CORE, 0},
	} {
		if err := syscall.Setrlimit(limit.resource, &syscall.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return fmt.Errorf("limiting %s: %w", limit.name, err)
		}
	}
	return nil
}
