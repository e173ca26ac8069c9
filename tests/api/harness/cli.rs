//! The command line, run as the real binary.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use super::TestApp;

#[derive(Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CommandOutput {
    fn new(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).trim_end().to_owned(),
            err: String::from_utf8_lossy(&output.stderr).trim_end().to_owned(),
        }
    }

    /// Expects success; returns the standard output.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// Expects success; returns each line of the standard output as JSON.
    pub fn json(self) -> Vec<serde_json::Value> {
        self.ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Expects success; returns the rows of a list, which is one array on one line.
    pub fn list(self) -> Vec<serde_json::Value> {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// Expects the exit code `code`, an empty standard output, and an error of one line, which it returns.
    pub fn fails(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        self.err
    }
}

impl TestApp {
    /// The binary, configured for this server's database and folder, without the environment of the test.
    pub fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rookery"));
        let config = &self.app.config;
        command
            .env_clear()
            .current_dir(&config.storage.data_dir)
            .env("ROOKERY_SERVER_LOCAL_DOMAIN", config.server.local_domain.as_str())
            .env("ROOKERY_STORAGE_DATA_DIR", &config.storage.data_dir)
            .env("ROOKERY_DATABASE_URL", config.database.url.expose());
        if let Some(bucket) = &self.bucket {
            command.envs(super::objects::keys(bucket));
            command.env("ROOKERY_STORAGE_BACKEND", config.storage.backend.as_str());
        }
        if let Some(key) = &config.secrets.key {
            command.env("ROOKERY_SECRETS_KEY", key.expose());
        }
        command
    }

    /// Runs `rookery` with these arguments while the server runs.
    pub async fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.run_with(arguments, "").await
    }

    /// As [`TestApp::run`], with standard input.
    pub async fn run_with(&self, arguments: &[&str], input: &str) -> CommandOutput {
        self.run_program(&[], arguments, input).await
    }

    /// As [`TestApp::run`], with configuration keys as environment variables.
    pub async fn run_set(&self, keys: &[(&str, &str)], arguments: &[&str]) -> CommandOutput {
        self.run_program(keys, arguments, "").await
    }

    async fn run_program(&self, keys: &[(&str, &str)], arguments: &[&str], input: &str) -> CommandOutput {
        let mut command = self.program();
        command
            .envs(keys.iter().copied())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let input = input.to_owned();
        let run = move || {
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            CommandOutput::new(&child.wait_with_output().unwrap())
        };
        let output = tokio::task::spawn_blocking(run).await.unwrap();
        // A listening server polls for this itself, at the latest after half a second.
        self.app.db.notice_other_processes().await.unwrap();
        output
    }
}
