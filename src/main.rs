//! The program: see `rookery --help`. What it is made of are the crates below `src`.

use std::process::ExitCode;

/// The media worker is dispatched before anything else: it gives up its rights first and reads no configuration.
fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == media::worker::COMMAND) {
        return media::worker::main();
    }
    rookery_cli::main()
}
