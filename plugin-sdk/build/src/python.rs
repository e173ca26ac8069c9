//! Python: types of the contract's modules for editors, and the words of componentize-py.

use std::path::Path;
use std::process::{Command, Stdio};

/// Writes the contract's modules as stubs with types to `types`, where editors look for them, unless the stubs of this
/// `world` are there. Where componentize-py is not to be had there are none: the build needs none.
pub(crate) fn write_types(wit: &Path, types: &Path, world: &str) {
    let stamp = types.join("world.wit");
    if std::fs::read_to_string(&stamp).is_ok_and(|kept| kept == world) {
        return;
    }
    let _ = std::fs::remove_dir_all(types);
    let mut tool = Command::new("componentize-py");
    tool.arg("--quiet").arg("--wit-path").arg(wit).args(["--world", "plugin", "bindings"]).arg(types);
    let done = tool.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if done.is_ok_and(|status| status.success()) {
        let _ = std::fs::write(stamp, world);
    }
}

/// What componentize-py meant, in one line: `app.py, line 3: SyntaxError: invalid syntax`. None where it did not fail over
/// the author's code.
pub(crate) fn meaning(said: &str) -> Option<String> {
    let (_, said) = said.split_once("AssertionError: ")?;
    let said = said.split("\nCaused by:").next().unwrap_or(said).split("\nStack backtrace:").next().unwrap_or_default();
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_python = |line: &&&str| {
        let name = line.split(':').next().unwrap_or_default();
        !name.is_empty()
            && name.ends_with(|c: char| c.is_alphanumeric())
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
            && name.contains(|c: char| c.is_uppercase())
    };
    let error = lines.iter().rev().find(is_python).or(lines.first())?;
    let place = lines.iter().rev().find_map(|line| {
        let (file, rest) = line.strip_prefix("File \"")?.split_once("\", ")?;
        let number = rest.strip_prefix("line ")?.split(|c: char| !c.is_ascii_digit()).next()?;
        Some(format!("{}, line {number}: ", file.strip_prefix("/0/").unwrap_or(file)))
    });
    Some(format!("{}{error}", place.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_understood_in_one_line() {
        let around = |what: &str| {
            format!(
                "Traceback (most recent call last):\n  File \"/bin/componentize-py\", line 8, in <module>\n\
                 AssertionError: {what}\n\n\nCaused by:\n    x\n\nStack backtrace:\n   0: <anyhow::Error>::msg\n"
            )
        };
        let syntax = "  File \"/0/app.py\", line 103\n    def f(:\n          ^\nSyntaxError: invalid syntax";
        assert_eq!(meaning(&around(syntax)).unwrap(), "app.py, line 103: SyntaxError: invalid syntax");
        let import = "Traceback (most recent call last):\n  File \"/0/app.py\", line 1, in <module>\n    import nope\n\
                      ModuleNotFoundError: No module named 'nope'";
        assert_eq!(meaning(&around(import)).unwrap(), "app.py, line 1: ModuleNotFoundError: No module named 'nope'");
        let class = "AttributeError: module 'app' has no attribute 'Routes'. Did you mean: 'Router'?";
        assert_eq!(meaning(&around(class)).unwrap(), class);
        assert_eq!(meaning("sh: 1: componentize-py: not found"), None);
    }
}
