//! A program that serves a database.

use std::path::Path;
use std::process::Command;

use crate::data::DOMAIN;
use crate::process::{Process, free_address};
use crate::scratch::Scratch;

/// A program and its database.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    pub program: &'a str,
    pub url: &'a str,
    pub folder: &'a Path,
    /// True if the embedded plugins are enabled.
    pub plugins: bool,
}

impl<'a> Site<'a> {
    pub fn new(program: &'a str, scratch: &'a Scratch, plugins: bool) -> Self {
        Self { program, url: &scratch.url, folder: scratch.folder(), plugins }
    }

    fn command(&self, address: std::net::SocketAddr) -> Command {
        let mut command = Command::new(self.program);
        command.env_clear().current_dir(self.folder);
        for (key, value) in [
            ("SERVER_LISTEN", address.to_string()),
            ("SERVER_LOCAL_DOMAIN", DOMAIN.to_owned()),
            ("STORAGE_DATA_DIR", self.folder.display().to_string()),
            ("DATABASE_URL", self.url.to_owned()),
            ("PLUGINS_EMBEDDED", self.plugins.to_string()),
            // Copies of a database are served in other folders: they share the key.
            ("SECRETS_KEY", "bench".repeat(12)),
            ("RATE_LIMITS_ENABLED", "false".to_owned()),
            ("LOG_LEVEL", "error".to_owned()),
            // Seeded rows are dated at the beginning of 2026.
            ("NOTIFICATIONS_RETENTION_DAYS", "0".to_owned()),
        ] {
            command.env(format!("ROOKERY_{key}"), value);
        }
        command
    }

    /// Starts the server with additional configuration.
    pub async fn start(&self, more: &[(&str, &str)]) -> Process {
        self.start_at(free_address(), more).await
    }

    /// As [`Site::start`], at the address of a previous server.
    pub async fn start_at(&self, address: std::net::SocketAddr, more: &[(&str, &str)]) -> Process {
        let mut serve = self.command(address);
        serve.arg("serve").envs(more.iter().map(|(key, value)| (format!("ROOKERY_{key}"), *value)));
        Process::start(serve, address).await
    }

    /// A command of the program with additional configuration.
    pub fn program(&self, arguments: &[&str], more: &[(&str, &str)]) -> Command {
        let mut program = self.command(free_address());
        program.args(arguments).envs(more.iter().map(|(key, value)| (format!("ROOKERY_{key}"), *value)));
        program
    }

    /// Runs a command of the program to its end, with additional configuration.
    pub fn run(&self, arguments: &[&str], more: &[(&str, &str)]) {
        let done = self.program(arguments, more).output().expect("the command line");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}
