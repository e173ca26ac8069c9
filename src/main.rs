//! The program: see `rookery --help`. What it is made of are the crates below `src`.

use std::process::ExitCode;

/// Every request allocates and frees hundreds of small pieces on several threads, which mimalloc does in half the time of
/// the C library's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The media worker is dispatched before anything else: it gives up its rights first and reads no configuration.
fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == media::worker::COMMAND) {
        return media::worker::main(arguments);
    }
    rookery_cli::main()
}
