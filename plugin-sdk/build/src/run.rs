//! Runs the build command of a plugin, for every language: bindings before it, the component after it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::{Error, Language, Result, World, is_component, python, write};

/// The build of one plugin.
#[derive(Debug)]
pub struct Build<'a> {
    /// The folder of its manifest.
    pub folder: &'a Path,
    /// `[build] language`: `c` and `go` get bindings, and their core modules are wrapped; `python` and `typescript` get the
    /// SDK's modules.
    pub language: Option<&'a str>,
    /// `[build] command`, run by `sh` in the folder. Its environment has the absolute paths `ROOKERY_WIT` (the folder
    /// of the world `plugin`), `ROOKERY_BINDINGS` (the folder of the bindings) and `ROOKERY_OUTPUT` (the file to
    /// write).
    pub command: &'a str,
    /// File name of the component, which is written beside the manifest.
    pub wasm: &'a str,
}

impl Build<'_> {
    /// Writes world and bindings below `target/`, runs the command, and replaces the component atomically. Returns its
    /// path. The compiler's output goes to the terminal.
    ///
    /// # Errors
    /// When the command fails, writes nothing, or writes a module that does not match the contract.
    pub fn run(&self, world: &World) -> Result<PathBuf> {
        let folder = std::path::absolute(self.folder).map_err(|error| Error(error.to_string()))?;
        let work = folder.join("target/plugin");
        let (wit, bindings, output) = (work.join("wit"), work.join("bindings"), work.join("output.wasm"));
        world.write(&wit)?;
        let language = self.bindings();
        if let Some(language) = language {
            world.bindings(language, &bindings)?;
        }
        if language == Some(Language::Go) {
            copy_sources(&folder, &bindings.join("plugin"))?;
        }
        // The output of an earlier build must not be mistaken for the output of this one.
        let _ = std::fs::remove_file(&output);
        let mut command = Command::new("sh");
        command
            .args(["-c", self.command])
            .current_dir(&folder)
            .envs([("ROOKERY_WIT", &wit), ("ROOKERY_BINDINGS", &bindings), ("ROOKERY_OUTPUT", &output)])
            .stdin(Stdio::null());
        match language {
            Some(Language::Python) => self.run_python(&mut command)?,
            Some(_) | None => self.check(command.status())?,
        }
        if language == Some(Language::Python) {
            python::write_types(&wit, &work.join("types"), &world.text);
        }
        self.place(world, &folder, &output)
    }

    fn check(&self, ended: io::Result<ExitStatus>) -> Result<()> {
        let status = ended.map_err(|error| Error(format!("sh cannot be run: {error}")))?;
        if status.success() {
            return Ok(());
        }
        Err(Error(format!("the build command failed ({status}): {}", self.command)))
    }

    /// Runs componentize-py, whose errors are long and mean one line.
    fn run_python(&self, command: &mut Command) -> Result<()> {
        let child = command.stderr(Stdio::piped()).spawn().and_then(std::process::Child::wait_with_output);
        let done = child.map_err(|error| Error(format!("sh cannot be run: {error}")))?;
        let said = String::from_utf8_lossy(&done.stderr);
        match python::meaning(&said).filter(|_| !done.status.success()) {
            Some(meant) => return Err(Error(meant)),
            None => drop(io::stderr().write_all(&done.stderr)),
        }
        self.check(Ok(done.status))
    }

    fn bindings(&self) -> Option<Language> {
        match self.language {
            Some("c") => Some(Language::C),
            Some("go") => Some(Language::Go),
            Some("python") => Some(Language::Python),
            Some("typescript") => Some(Language::TypeScript),
            _ => None,
        }
    }

    /// Puts the component in place. A command that ignores `ROOKERY_OUTPUT` may have written it there itself.
    fn place(&self, world: &World, folder: &Path, output: &Path) -> Result<PathBuf> {
        let wasm = folder.join(self.wasm);
        let made = if output.exists() { output } else { &wasm };
        let bytes = std::fs::read(made).map_err(|error| {
            Error(format!("the build command wrote neither $ROOKERY_OUTPUT nor {}: {error}", self.wasm))
        })?;
        if is_component(&bytes) && made == wasm {
            return Ok(wasm);
        }
        let component = world.component(&bytes, self.bindings() == Some(Language::Go))?;
        let beside = folder.join(format!(".{}.tmp", self.wasm));
        write(&beside, &component)?;
        std::fs::rename(&beside, &wasm).map_err(|error| Error(format!("{}: {error}", wasm.display())))?;
        Ok(wasm)
    }
}

/// Copies the author's Go files to the package `plugin` of the generated module.
fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    let fail = |error: std::io::Error| Error(format!("{}: {error}", from.display()));
    let _ = std::fs::remove_dir_all(to);
    for entry in std::fs::read_dir(from).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|extension| extension == "go")
            && let Some(name) = path.file_name()
        {
            write(&to.join(name), &std::fs::read(&path).map_err(fail)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(folder: &Path, command: &str) -> Result<PathBuf> {
        let world = World::new(&[], &[]).unwrap();
        Build { folder, language: Some("c"), command, wasm: "p.wasm" }.run(&world)
    }

    #[test]
    fn a_core_module_is_wrapped_and_put_into_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("core.wasm"), wat::parse_str("(module)").unwrap()).unwrap();
        let wasm =
            build(folder.path(), "cp core.wasm \"$ROOKERY_OUTPUT\" && test -e \"$ROOKERY_BINDINGS/plugin.h\"").unwrap();
        assert!(is_component(&std::fs::read(wasm).unwrap()));
    }

    #[test]
    fn a_command_that_fails_or_makes_nothing_says_so() {
        let folder = tempfile::tempdir().unwrap();
        assert!(build(folder.path(), "exit 3").unwrap_err().to_string().contains("exit status: 3"));
        assert!(build(folder.path(), "true").unwrap_err().to_string().contains("wrote neither"));
        let broken = build(folder.path(), "echo hello > \"$ROOKERY_OUTPUT\"").unwrap_err().to_string();
        assert!(broken.contains("does not fit") || broken.contains("module"), "{broken}");
    }
}
