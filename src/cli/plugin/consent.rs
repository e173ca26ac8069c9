//! Asks the admin before a plugin is given anything that it was not given before.

use std::io::{IsTerminal as _, Write as _, stderr, stdin};

use serde_json::{Value, json};

use super::{looked_up, words};
use plugins::Cx;
use terminal::{Failure, Output};

/// Shows the plugin's permissions and asks for consent, unless they were granted before; returns the body of the
/// request that enables it.
///
/// # Errors
/// When the admin declines, or there is no terminal to ask on and `yes` was not given.
pub(super) async fn obtain(cx: &Cx, name: &str, yes: bool, output: Output) -> Result<Value, Failure> {
    let detail = looked_up(cx, name).await?;
    let first = detail["accepted"] != true;
    let agreed =
        json!({ "digest": detail["waiting"]["digest"].as_str().or(detail["digest"].as_str()).filter(|_| first) });
    if yes || !first {
        return Ok(agreed);
    }
    output.warn(&words::request(&detail));
    if !stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "there is no terminal to ask on: `rookery plugin enable {name} --yes` enables it and grants all of this"
        )));
    }
    agree(&format!("Enable {name}, and grant all of this?"), || format!("{name} was not enabled")).await?;
    Ok(agreed)
}

/// Asks on the terminal.
///
/// # Errors
/// `declined` unless the answer is yes.
pub(super) async fn agree(question: &str, declined: impl FnOnce() -> String) -> Result<(), Failure> {
    let _ = write!(stderr(), "{question} [y/N] ");
    let _ = stderr().flush();
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        stdin().read_line(&mut line).map(|_| line)
    });
    let answer = answer.await.map_err(Failure::new)?.map_err(Failure::new)?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(declined())),
    }
}
