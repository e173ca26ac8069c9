//! An author who publishes packages on a static web server: keys, signed packages, an index.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::shelf::{manifest, route, routes};
use crate::harness::Site;

/// An author with a key.
pub struct Publisher {
    folder: tempfile::TempDir,
    /// The public key, in one line.
    pub key: String,
}

impl Publisher {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &["keygen", "author"]);
        let text = std::fs::read_to_string(folder.path().join("author.pub")).unwrap();
        let key = text.lines().nth(1).unwrap().to_owned();
        Self { folder, key }
    }

    /// Folder of the published files.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("public")
    }

    /// Packs and signs a version of `notes` with a single route; returns the path of the file.
    pub fn publish(&self, version: &str, more: &str) -> PathBuf {
        let project = self.folder.path().join("notes");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::create_dir_all(self.folder()).unwrap();
        let text = manifest("notes", version, &format!("{}{more}", route("notes")));
        std::fs::write(project.join("plugin.toml"), text).unwrap();
        std::fs::write(project.join("notes.wasm"), routes("(call $ok)")).unwrap();
        run(&project, &["pack", "--key", "../author.key"]);
        let name = format!("notes-{version}.plugin");
        for file in [name.clone(), format!("{name}.minisig")] {
            std::fs::rename(project.join(&file), self.folder().join(&file)).unwrap();
        }
        self.folder().join(name)
    }

    /// Writes the index, and uploads everything to `site`.
    pub fn upload(&self, site: &Site) {
        self.upload_with(site, &["index"]);
    }

    /// As [`Publisher::upload`], with an index that `key` signs.
    pub fn upload_signed(&self, site: &Site, key: &Path) {
        self.upload_with(site, &["index", "--key", key.to_str().unwrap()]);
    }

    /// File of the secret key.
    pub fn secret(&self) -> PathBuf {
        self.folder.path().join("author.key")
    }

    fn upload_with(&self, site: &Site, index: &[&str]) {
        run(&self.folder(), index);
        for file in std::fs::read_dir(self.folder()).unwrap().map(Result::unwrap) {
            let path = format!("/{}", file.file_name().to_str().unwrap());
            site.put(&path, 200, "application/octet-stream", &std::fs::read(file.path()).unwrap());
        }
    }
}

/// Runs a command for authors.
pub fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rookery")).arg("plugin").args(arguments).current_dir(folder).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
