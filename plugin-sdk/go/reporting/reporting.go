// Package reporting has panics of a plugin written to its log, with the file and line of each call, before they end the
// instance. Generated glue wraps every exported function: what else the runtime prints is dropped.
package reporting

import (
	"fmt"
	"runtime"
	"strings"

	log "wit_component/rookery_plugin_log"
	wit "go.bytecodealliance.org/pkg/wit/types"
)

// Of0 wraps a function without parameters.
func Of0[R any](work func() R) func() R {
	return func() R {
		defer caught()
		return work()
	}
}

// Of1 wraps a function of one parameter.
func Of1[A, R any](work func(A) R) func(A) R {
	return func(a A) R {
		defer caught()
		return work(a)
	}
}

// Of2 wraps a function of two parameters.
func Of2[A, B, R any](work func(A, B) R) func(A, B) R {
	return func(a A, b B) R {
		defer caught()
		return work(a, b)
	}
}

// Of3 wraps a function of three parameters.
func Of3[A, B, C, R any](work func(A, B, C) R) func(A, B, C) R {
	return func(a A, b B, c C) R {
		defer caught()
		return work(a, b, c)
	}
}

func caught() {
	reason := recover()
	if reason == nil {
		return
	}
	log.Emit(log.LevelError, fmt.Sprintf("panic: %v%s", reason, frames()), []wit.Tuple2[string, string]{})
	panic(reason)
}

// frames are the calls of the author's code, innermost first.
func frames() string {
	var text strings.Builder
	callers := make([]uintptr, 64)
	calls := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		call, more := calls.Next()
		if name, own := strings.CutPrefix(call.Function, "wit_component/plugin."); own {
			file := call.File[strings.LastIndexByte(call.File, '/')+1:]
			fmt.Fprintf(&text, "\n  %s:%d, in %s", file, call.Line, name)
		}
		if !more {
			return text.String()
		}
	}
}
