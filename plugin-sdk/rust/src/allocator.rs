//! Where a plugin's values live: first in the memory that an instance is made with, which the linker's `--initial-heap`
//! says, and only when that is full in memory asked for later.
//!
//! The standard library's own asks for more at the first value. For the server, that means to change what every processor
//! knows of its memory, twice for each instance, and costs more than everything else of a short call.

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;
