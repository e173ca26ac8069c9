//! The global allocator of guests: uses the initial heap first (the linker's `--initial-heap`), and grows the linear
//! memory only when that is full.
//!
//! The standard library's allocator grows memory with the first allocation. On the server, growing changes the mapping
//! of the instance's memory, which interrupts every processor (TLB shootdown), twice for each instance: it costs more
//! than the rest of a short call.

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;
