//! The Rust toolchain for plugins: a compiler with the WebAssembly target, and the linker for components.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use terminal::Failure;

/// The script that finds or installs the compiler; it prints the path of its rustc.
const SETUP: &str = include_str!("../../plugin-sdk/tools/setup-wasm.sh");

/// Initial heap of an instance, as much as most calls need. Must match `plugin-sdk/tools/build-guests.sh`.
const INITIAL_HEAP: &str = "-Clink-arg=--initial-heap=262144";

/// Environment variables for cargo. Installs the compiler when necessary, which may take minutes the first time.
pub(crate) fn environment(work: &Path) -> Result<Vec<(String, String)>, Failure> {
    let compiler = compiler()?;
    let (linker, wasm_ld) = linker()?;
    let version = output(Command::new(&compiler).arg("--version"))?;
    let version = version.split_whitespace().nth(1).unwrap_or("unknown").to_owned();
    let flags =
        ["-Clink-arg=--wasm-ld-path", &format!("-Clink-arg={wasm_ld}"), INITIAL_HEAP, "-Ctarget-feature=+simd128"]
            .join("\u{1f}");
    let target = work.join("cargo").join(version);
    Ok([
        ("RUSTC", compiler),
        ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker),
        ("CARGO_ENCODED_RUSTFLAGS", flags),
        ("CARGO_TARGET_DIR", target.display().to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into())
}

/// The path of a rustc that can compile for WebAssembly.
fn compiler() -> Result<String, Failure> {
    let mut bash = Command::new("bash")
        .arg("-s")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::new(format!("bash cannot be run: {error}")))?;
    if let Some(mut stdin) = bash.stdin.take() {
        stdin.write_all(SETUP.as_bytes()).map_err(Failure::new)?;
    }
    let done = bash.wait_with_output().map_err(Failure::new)?;
    if !done.status.success() {
        return Err(Failure::new("there is no compiler for guests; the lines above say what to install"));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// The linker for components, and the `wasm-ld` that it calls.
pub(crate) fn linker() -> Result<(String, String), Failure> {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let about = output(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let folder = PathBuf::from(sysroot.trim()).join("lib/rustlib").join(host).join("bin");
    let (linker, wasm_ld) = (folder.join("wasm-component-ld"), folder.join("gcc-ld/wasm-ld"));
    if !linker.exists() || !wasm_ld.exists() {
        let path = linker.display();
        return Err(Failure::new(format!(
            "the linker for components is not at {path}: install Rust from https://rustup.rs"
        )));
    }
    Ok((linker.display().to_string(), wasm_ld.display().to_string()))
}

/// The standard output of a command.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command
        .output()
        .map_err(|_| Failure::new(format!("there is no {name}: install Rust from https://rustup.rs")))?;
    if !done.status.success() {
        return Err(Failure::new(format!("{name} failed: {}", String::from_utf8_lossy(&done.stderr).trim())));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
