//! Arguments of the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

/// The task of this program.
#[derive(Debug)]
pub enum Task {
    /// Measure a program on a seeded data set.
    Bench,
    /// Measure how costs grow with the data.
    Growth,
    /// Measure two programs against each other.
    Compare([String; 2]),
    /// Measure a server that runs elsewhere.
    Remote(Remote),
    /// Run the floor, with the responses of a folder.
    Floor(SocketAddr, PathBuf),
    /// Place the statuses of a database in antennas, without a sandbox.
    #[cfg(feature = "plugins")]
    Antennas(SocketAddr, String),
}

/// A running server.
#[derive(Debug, Default)]
pub struct Remote {
    /// `http://host:port`
    pub url: String,
    /// A file with a token on each line; the rest of a line is a comment.
    pub tokens: String,
    /// Ids of statuses with equally many replies; learned if empty.
    pub threads: Vec<String>,
    /// Id of the process whose processor time is measured.
    pub pid: Option<u32>,
    /// Includes the processor time of PostgreSQL.
    pub postgres: bool,
}

/// The task, and options of all tasks.
#[derive(Debug)]
pub struct Options {
    pub task: Task,
    pub program: String,
    /// Whether the embedded plugins are on.
    pub plugins: bool,
    /// Measures only routes with one of these words in their names; all routes if empty.
    pub words: Vec<String>,
    /// Number of clients that read streams next to slow ones.
    pub sockets: usize,
}

/// Words that need few rows.
const LOADS: [&str; 5] = ["slow", "restarts", "nodes", "pushes", "deliveries"];

impl Options {
    /// Parses the arguments of `HELP`. Panics with it at any other argument.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Self {
        let mut arguments = arguments.into_iter();
        let mut remote = Remote::default();
        let mut options = Self {
            task: Task::Bench,
            program: env!("CARGO_BIN_EXE_rookery").into(),
            plugins: cfg!(feature = "plugins"),
            words: Vec::new(),
            sockets: 10_000,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} needs a value\n{HELP}"));
            match argument.as_str() {
                // Passed by cargo.
                "--bench" => {}
                "--growth" => options.task = Task::Growth,
                "--compare" => options.task = Task::Compare([program(&value()), program(&value())]),
                "--program" => options.program = program(&value()),
                "--sockets" => options.sockets = value().parse().expect("a number of clients"),
                "--no-plugins" => options.plugins = false,
                "--url" => remote.url = value(),
                "--tokens" => remote.tokens = value(),
                "--threads" => remote.threads = value().split(',').map(str::to_owned).collect(),
                "--pid" => remote.pid = Some(value().parse().expect("the number of a process")),
                "--postgres" => remote.postgres = true,
                "--floor" => options.task = Task::Floor(value().parse().expect("an address"), value().into()),
                #[cfg(feature = "plugins")]
                "--antennas" => options.task = Task::Antennas(value().parse().expect("an address"), value()),
                word if word.starts_with('-') => panic!("{word} is no option\n{HELP}"),
                word => options.words.push(word.to_owned()),
            }
        }
        if !remote.url.is_empty() {
            options.task = Task::Remote(remote);
        }
        options
    }

    /// True if the word itself was given.
    pub fn names(&self, word: &str) -> bool {
        self.words.iter().any(|named| named == word)
    }

    /// True if only load is measured.
    pub fn is_load(&self) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| LOADS.contains(&word.as_str()))
    }

    /// True if a measurement with this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}

const HELP: &str = "
cargo bench -- [WORD…] [--program PATH] [--no-plugins]        routes with a WORD in their name, \"plugins\",
                                                             \"federation\" and, if named, \"circles\", \"all-on\" (home with
                                                             every plugin), \"filtered\", \"hostile\" and \"streams\"
cargo bench -- slow|restarts|nodes|pushes|deliveries… [--sockets COUNT]
                                                             load on streams, push and delivery, on few rows
cargo bench -- --growth [WORD…] [--program PATH] [--no-plugins]
cargo bench -- --compare OLD NEW [WORD…] [--no-plugins]
cargo bench -- --url http://HOST:PORT --tokens FILE [--threads ID,…] [--pid PID] [--postgres] [WORD…]";

/// Servers run in other folders.
fn program(path: &str) -> String {
    let path = std::fs::canonicalize(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    path.to_str().expect("a path in UTF-8").to_owned()
}
