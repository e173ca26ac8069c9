// Package runtime allocates memory for the host, pinned until the call is over so that the garbage collector leaves it.
package runtime

import (
	"runtime"
	"unsafe"
)

// Memory that the host has filled and the guest has not yet taken over.
var received runtime.Pinner

// Allocate returns size bytes, aligned to at most 8, that are pinned until pinner is unpinned.
func Allocate(pinner *runtime.Pinner, size, align uintptr) unsafe.Pointer {
	if align > 8 {
		panic("an alignment of more than 8 bytes")
	}
	words := make([]uint64, max(1, (size+7)/8))
	at := unsafe.Pointer(unsafe.SliceData(words))
	pinner.Pin(at)
	return at
}

// Unpin returns what the host filled to the garbage collector, which frees it when nothing refers to it.
func Unpin() { received.Unpin() }

// The allocator of the canonical ABI, which the host calls for memory.
//
//go:wasmexport cabi_realloc
func reallocate(old unsafe.Pointer, oldSize, align, newSize uint32) unsafe.Pointer {
	at := Allocate(&received, uintptr(newSize), uintptr(align))
	if old != nil {
		copy(unsafe.Slice((*byte)(at), newSize), unsafe.Slice((*byte)(old), oldSize))
	}
	return at
}
