//! The parts of `plugin.toml` that the attributes are compared with.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The manifest of the crate that is being compiled.
pub(crate) struct Manifest {
    pub(crate) folder: PathBuf,
    table: Table,
}

/// `[[route]]`
pub(crate) struct Route {
    pub(crate) id: String,
    pub(crate) methods: Vec<String>,
    pub(crate) path: String,
    pub(crate) scopes: Vec<String>,
    /// Answered by the server, without a call of the plugin.
    pub(crate) native: bool,
}

/// `[[hook]]`
pub(crate) struct Hook {
    pub(crate) on: String,
    pub(crate) kinds: Vec<String>,
}

impl Manifest {
    /// Reads `plugin.toml` beside the crate's `Cargo.toml`.
    pub(crate) fn read() -> Result<Self, String> {
        #[expect(clippy::disallowed_methods, reason = "cargo tells macros so where the crate is")]
        let folder = std::env::var("CARGO_MANIFEST_DIR").map_err(|_| "cargo does not say where the crate is")?;
        let folder = PathBuf::from(folder);
        let path = folder.join("plugin.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("plugin.toml cannot be read: {error}"))?;
        let table = text.parse::<Table>().map_err(|error| format!("plugin.toml is broken: {error}"))?;
        Ok(Self { folder, table })
    }

    fn tables(&self, name: &str) -> impl Iterator<Item = &Table> {
        self.table.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
    }

    pub(crate) fn routes(&self) -> Vec<Route> {
        self.tables("route")
            .map(|route| Route {
                id: text(route, "id"),
                methods: list(route, "method").iter().map(|method| method.to_ascii_uppercase()).collect(),
                path: text(route, "path"),
                scopes: list(route, "scopes"),
                native: route.contains_key("native"),
            })
            .collect()
    }

    pub(crate) fn hooks(&self) -> Vec<Hook> {
        self.tables("hook").map(|hook| Hook { on: text(hook, "on"), kinds: list(hook, "kinds") }).collect()
    }

    /// Kinds of jobs, queued or scheduled.
    pub(crate) fn jobs(&self) -> Vec<String> {
        let queued = self.tables("job").map(|job| text(job, "kind"));
        let mut jobs: Vec<String> =
            queued.chain(self.tables("schedule").map(|schedule| text(schedule, "job"))).collect();
        jobs.sort();
        jobs.dedup();
        jobs
    }

    /// The ids of pages.
    pub(crate) fn pages(&self) -> Vec<String> {
        self.tables("page").map(|page| text(page, "id")).collect()
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.tables("command").map(|command| text(command, "name")).collect()
    }

    /// The path given by a key of a table: `[sql] statements`.
    pub(crate) fn path(&self, table: &str, key: &str) -> Option<PathBuf> {
        let relative = self.table.get(table)?.as_table()?.get(key)?.as_str()?;
        Some(self.folder.join(relative))
    }

    /// The migration files, in order.
    pub(crate) fn migrations(&self) -> Result<Vec<PathBuf>, String> {
        let Some(folder) = self.path("sql", "migrations") else { return Ok(Vec::new()) };
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let is_sql = |path: &Path| path.extension().is_some_and(|extension| extension == "sql");
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| is_sql(path)).collect();
        files.sort();
        Ok(files)
    }
}

fn text(table: &Table, key: &str) -> String {
    table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The value of a key that is a string or a list of strings.
fn list(table: &Table, key: &str) -> Vec<String> {
    match table.get(key) {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Formats a list as TOML: `["a", "b"]`.
pub(crate) fn toml_list(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|item| format!("{item:?}")).collect();
    format!("[{}]", quoted.join(", "))
}
