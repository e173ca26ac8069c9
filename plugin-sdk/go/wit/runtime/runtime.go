// Package runtime lends memory to the host: what a call passes on stays where it is until the call is over.
package runtime

import (
	"runtime"
	"unsafe"
)

// What the host filled for the guest and the guest has not taken over yet.
var received runtime.Pinner

// Allocate gives size bytes, aligned to at most 8, that stay where they are until pinner is unpinned.
func Allocate(pinner *runtime.Pinner, size, align uintptr) unsafe.Pointer {
	if align > 8 {
		panic("an alignment of more than 8 bytes")
	}
	words := make([]uint64, max(1, (size+7)/8))
	at := unsafe.Pointer(unsafe.SliceData(words))
	pinner.Pin(at)
	return at
}

// Unpin leaves what the host filled to the garbage collector; whatever still refers to it keeps it.
func Unpin() { received.Unpin() }

// The canonical ABI's allocator: the host asks for memory by it.
//
//go:wasmexport cabi_realloc
func reallocate(old unsafe.Pointer, oldSize, align, newSize uint32) unsafe.Pointer {
	at := Allocate(&received, uintptr(newSize), uintptr(align))
	if old != nil {
		copy(unsafe.Slice((*byte)(at), newSize), unsafe.Slice((*byte)(old), oldSize))
	}
	return at
}

// Handle is the guest's end of a resource of the host, given away at most once.
type Handle struct{ value int32 }

// MakeHandle is a Handle of the host's number.
func MakeHandle(value int32) *Handle { return &Handle{value} }

// Use is the number; it panics when it was given away.
func (handle *Handle) Use() int32 {
	if handle.value == 0 {
		panic("a resource was used after it was given away")
	}
	return handle.value
}

// Take is the number, which from then on belongs to the caller.
func (handle *Handle) Take() int32 {
	value := handle.Use()
	handle.value = 0
	return value
}

// TakeOrNil is as Take, and 0 when it was given away.
func (handle *Handle) TakeOrNil() int32 {
	value := handle.value
	handle.value = 0
	return value
}

// Set puts a number where none is.
func (handle *Handle) Set(value int32) {
	if handle.value != 0 {
		panic("a resource was set twice")
	}
	handle.value = value
}
