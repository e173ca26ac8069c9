//! The `rookery` binary. The implementation is in the crates below `src`.

use std::process::ExitCode;

/// Every request allocates and frees hundreds of small pieces on several threads, which mimalloc does in half the time of
/// the C library's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Child processes that give up their rights are dispatched before anything else: they read no configuration.
fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let word = arguments.next().unwrap_or_default();
    if word == media::worker::COMMAND {
        return media::worker::main(arguments);
    }
    #[cfg(feature = "plugins")]
    if word == rookery_plugin_host::compile_worker::COMMAND {
        return rookery_plugin_host::compile_worker::main(arguments);
    }
    rookery_cli::main()
}
