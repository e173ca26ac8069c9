//! The words on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What this program is to do.
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
    /// Be the floor, with the answers of a folder.
    Floor(SocketAddr, PathBuf),
    /// Place the statuses of a database in antennas, without a sandbox.
    #[cfg(feature = "plugins")]
    Antennas(SocketAddr, String),
}

/// A server that runs already.
#[derive(Debug, Default)]
pub struct Remote {
    /// `http://host:port`
    pub url: String,
    /// A file with a token on each line; what follows it there is for people.
    pub tokens: String,
    /// Ids of statuses with as many answers each; learned without.
    pub threads: Vec<String>,
    /// Of the process whose processor time counts.
    pub pid: Option<u32>,
    /// The processor time of PostgreSQL counts as well.
    pub postgres: bool,
}

/// The task and what goes for all of them.
#[derive(Debug)]
pub struct Options {
    pub task: Task,
    pub program: String,
    /// Whether the embedded plugins are on.
    pub plugins: bool,
    /// Measure routes with one of these words in their name; all without.
    pub words: Vec<String>,
    /// How many clients read streams beside slow ones.
    pub sockets: usize,
}

/// The words that need few rows.
const LOADS: [&str; 4] = ["slow", "restarts", "nodes", "pushes"];

impl Options {
    /// Reads `--help`'s words. Panics with them at anything else.
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
                // From cargo.
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

    /// Whether the word itself was given.
    pub fn names(&self, word: &str) -> bool {
        self.words.iter().any(|named| named == word)
    }

    /// Whether only load is measured.
    pub fn is_load(&self) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| LOADS.contains(&word.as_str()))
    }

    /// Whether something of this name is to be measured.
    pub fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}

const HELP: &str = "
cargo bench -- [WORD…] [--program PATH] [--no-plugins]        routes with a WORD in their name, \"plugins\"
                                                             and, if named, \"circles\", \"all-on\" (home with
                                                             every plugin), \"filtered\", \"hostile\" and \"streams\"
cargo bench -- slow|restarts|nodes|pushes… [--sockets COUNT]  load on streams and push, on few rows
cargo bench -- --growth [WORD…] [--program PATH] [--no-plugins]
cargo bench -- --compare OLD NEW [WORD…] [--no-plugins]
cargo bench -- --url http://HOST:PORT --tokens FILE [--threads ID,…] [--pid PID] [--postgres] [WORD…]";

/// Servers run in folders of their own.
fn program(path: &str) -> String {
    let path = std::fs::canonicalize(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    path.to_str().expect("a path in UTF-8").to_owned()
}
