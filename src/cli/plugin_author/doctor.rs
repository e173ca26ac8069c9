//! `rookery plugin doctor`: what is there for building plugins, and the command that brings each missing piece.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::project::Project;
use super::rust;
use crate::cli::output::{Failure, Output};

/// Looks at what the plugin in `folder` needs; at Rust's where there is none.
pub(super) fn run(folder: &Path, output: Output) -> Result<(), Failure> {
    let project = folder.join("plugin.toml").exists().then(|| Project::open(folder)).transpose()?;
    let build = project.as_ref().and_then(|project| project.manifest.build.as_ref());
    let language = build.and_then(|build| build.language.clone()).unwrap_or_else(|| "rust".to_owned());
    let mut found = match language.as_str() {
        "rust" => rust_pieces(),
        "c" => vec![tool("zig", "pip install ziglang==0.17.1")],
        "go" => vec![tool("go", "https://go.dev/dl")],
        "python" => vec![tool("componentize-py", "pip install componentize-py==0.25.1")],
        other => {
            vec![piece(&format!("tools for {other}"), false, "none are known here: [build] command must bring its own")]
        }
    };
    if let Some(project) = &project {
        let built = project.folder.join(&project.manifest.plugin.wasm).exists();
        found.push(piece(&project.manifest.plugin.wasm, built, "rookery plugin build"));
        let tested = !project.manifest.tests.is_empty();
        found.push(piece("tests", tested, "add [[test]] file = \"tests/x.toml\" to plugin.toml"));
    }
    output.answer(&found, || found.iter().map(words).collect())?;
    if found.iter().all(|piece| piece["ok"] == true) { Ok(()) } else { Err(Failure::new("something is missing")) }
}

fn rust_pieces() -> Vec<Value> {
    let target =
        rust::said(Command::new("rustc").args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"]));
    let target = target.is_ok_and(|folder| Path::new(folder.trim()).exists());
    vec![
        tool("cargo", "curl https://sh.rustup.rs -sSf | sh"),
        tool("cc", "apt-get install build-essential"),
        piece("linker for components", rust::linker().is_ok(), "curl https://sh.rustup.rs -sSf | sh"),
        piece(
            "target wasm32-unknown-unknown",
            target,
            "rustup target add wasm32-unknown-unknown (or let `rookery plugin build` find one)",
        ),
    ]
}

fn tool(name: &str, fix: &str) -> Value {
    let there = Command::new("sh").args(["-c", &format!("command -v {name} >/dev/null")]).status();
    piece(name, there.is_ok_and(|status| status.success()), fix)
}

fn piece(name: &str, there: bool, fix: &str) -> Value {
    json!({ "what": name, "ok": there, "fix": if there { Value::Null } else { fix.into() } })
}

fn words(piece: &Value) -> String {
    let what = piece["what"].as_str().unwrap_or_default();
    match piece["fix"].as_str() {
        None => format!("ok       {what}\n"),
        Some(fix) => format!("missing  {what}: {fix}\n"),
    }
}
