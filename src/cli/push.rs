//! `rookery push reset`: another key of web push, where the one that there was cannot be read any more.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use service::push;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Forget the key of web push and every subscription; the next start of the server makes another key
    Reset,
}

#[derive(Serialize)]
struct Reset {
    subscriptions: u64,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let Command::Reset = command;
    let subscriptions = push::reset(cx).await?;
    output.respond(&Reset { subscriptions }, || {
        format!("Deleted the key and {subscriptions} subscriptions. Restart the server: apps have to subscribe again.")
    })
}
