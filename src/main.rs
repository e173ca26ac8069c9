//! The program: see `rookery --help`.

use std::process::ExitCode;

use rookery::cli;

/// The media worker is dispatched before anything else: it gives up its rights first and reads no configuration.
fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == media::worker::COMMAND) {
        return media::worker::main();
    }
    cli::main()
}
