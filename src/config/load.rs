//! Reads the configuration: a TOML file, overridden by the environment, with defaults for unset keys.
//!
//! A key may be set once in each source. A secret may instead be given by the path of a file that contains it:
//! `key_file = "…"`, `ROOKERY_SECRETS_KEY_FILE=…`. Faults are collected, and reading continues.

use std::{collections::BTreeMap, fmt, fs, path::Path};

use toml::de::{DeTable, DeValue};

use super::{
    OTHER_VARIABLES, PREFIX,
    fault::{Fault, Origin, nearest},
    keys::SECTIONS,
    table::{Fallback, Key},
    value::{Setting, Value, absolute},
};

/// The suffix of a key with the path of a secret's file.
const FILE: &str = "_file";

/// The suffix of a variable with the path of a secret's file.
const FILE_VARIABLE: &str = "_FILE";

/// Larger than any real secret, small enough to read a wrong file without harm.
const SECRET_FILE_LIMIT_BYTES: u64 = 64 * 1024;

/// The effective value of a key.
#[derive(Clone)]
pub(super) struct Effective {
    /// `section.name`.
    pub(super) path: String,
    pub(super) value: Value,
    /// The value with secrets removed.
    pub(super) redacted: Value,
    pub(super) origin: Origin,
}

/// Omits the value, which may be secret.
impl fmt::Debug for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path, self.origin)
    }
}

struct Given {
    value: Value,
    origin: Origin,
}

/// Collects values by key, to build a [`Config`](super::Config).
#[derive(Default)]
pub(super) struct Reader {
    given: BTreeMap<String, Given>,
    effective: Vec<Effective>,
    faults: Vec<Fault>,
}

impl Reader {
    /// The effective value of a key that was read before; `None` when it was invalid.
    pub(super) fn get(&self, path: &str) -> Option<Value> {
        self.effective.iter().find(|effective| effective.path == path).map(|effective| effective.value.clone())
    }

    /// Records a fault.
    pub(super) fn fault(&mut self, key: impl Into<String>, problem: impl Into<String>, origin: Option<Origin>) {
        self.faults.push(Fault { key: key.into(), problem: problem.into(), origin });
    }

    /// All faults recorded.
    pub(super) fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    /// Every value read, with its origin.
    pub(super) fn take_effective(&mut self) -> Vec<Effective> {
        std::mem::take(&mut self.effective)
    }

    /// Reads one key: its value, or the default. `None` when it is invalid.
    pub(super) fn read<T: Setting>(&mut self, section: &str, name: &str) -> Option<T> {
        let key = SECTIONS.iter().find(|it| it.name == section)?.keys.iter().find(|it| it.name == name)?;
        let path = key.path();
        let given = match self.given.remove(&path) {
            Some(given) => given,
            None => Given { value: self.default(key)?, origin: Origin::Default },
        };
        let Some(typed) = T::read(&given.value, (key.bounds)()) else {
            let shown = if !key.secret {
                given.value.to_string()
            } else if let Some(text) = given.value.as_text() {
                format!("the value ({} bytes, not shown)", text.len())
            } else {
                "the value (not shown)".to_owned()
            };
            self.fault(path, format!("{shown} is not {}", key.expected()), Some(given.origin));
            return None;
        };
        let typed = typed.located(given.origin.folder());
        self.effective.push(Effective { path, value: typed.write(), redacted: typed.redacted(), origin: given.origin });
        Some(typed)
    }

    fn default(&self, key: &Key) -> Option<Value> {
        match (key.default)() {
            Fallback::Value(value) => Some(value),
            Fallback::Derived(derived) => (derived.from)(self),
        }
    }

    /// Adds the values of a TOML file.
    pub(super) fn add_file(&mut self, path: &Path) {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return self.fault("", format!("cannot read {}: {error}", path.display()), None),
        };
        let line_of = |start: usize| {
            let before = text.as_bytes().iter().take(start);
            Origin::Line(path.to_owned(), 1 + before.filter(|byte| **byte == b'\n').count())
        };
        let (root, errors) = DeTable::parse_recoverable(&text);
        for error in &errors {
            // Only the message: the full text of the error shows the line, which may contain a secret.
            self.fault("", error.message(), error.span().map(|span| line_of(span.start)));
        }
        if !errors.is_empty() {
            return;
        }
        let mut set = BTreeMap::new();
        for (section, entries) in root.get_ref() {
            let origin = line_of(section.span().start);
            let section = section.get_ref().as_ref();
            let Some(known) = SECTIONS.iter().find(|known| known.name == section) else {
                self.unknown_section(section, origin);
                continue;
            };
            let Some(entries) = entries.get_ref().as_table() else {
                self.fault(section, format!("is a section: write [{section}] and its keys below"), Some(origin));
                continue;
            };
            for (name, value) in entries {
                let origin = line_of(name.span().start);
                let name = name.get_ref().as_ref();
                let Some((key, by_file)) = known.keys.iter().find_map(|key| names_file(key, key.name, FILE, name))
                else {
                    self.unknown_key(section, name, origin);
                    continue;
                };
                match convert(value.get_ref()) {
                    Ok(value) => self.put(&mut set, key, by_file, Given { value, origin }),
                    Err(problem) => self.fault(key.path(), problem, Some(origin)),
                }
            }
        }
        self.given.extend(set);
    }

    /// Adds the values of the environment, which override values added before.
    pub(super) fn add_environment(&mut self, environment: impl Iterator<Item = (String, String)>) {
        let mut set = BTreeMap::new();
        // Sorted, so that the order of faults is deterministic.
        let variables: BTreeMap<_, _> = environment.filter(|(name, _)| name.starts_with(PREFIX)).collect();
        for (name, value) in variables {
            if OTHER_VARIABLES.contains(&name.as_str()) {
                continue;
            }
            match keys().find_map(|key| names_file(key, &key.variable(), FILE_VARIABLE, &name)) {
                Some((key, by_file)) => {
                    let given = Given { value: Value::Bare(value), origin: Origin::Variable(name) };
                    self.put(&mut set, key, by_file, given);
                }
                None => self.unknown_variable(&name),
            }
        }
        self.given.extend(set);
    }

    /// Adds a value to the values of its source; reads a secret from its file.
    fn put(&mut self, set: &mut BTreeMap<String, Given>, key: &Key, by_file: bool, mut given: Given) {
        if let Some(other) = set.get(&key.path()) {
            let problem = format!("is given twice: also at {}", other.origin);
            return self.fault(key.path(), problem, Some(given.origin));
        }
        if by_file {
            given = match read_secret(&given) {
                Ok(given) => given,
                Err(problem) => return self.fault(key.path(), problem, Some(given.origin)),
            };
        }
        set.insert(key.path(), given);
    }

    fn unknown_section(&mut self, section: &str, origin: Origin) {
        let known = SECTIONS.iter().map(|known| known.name.to_owned());
        let hint = match nearest(section, known.clone()) {
            Some(nearest) => format!("did you mean [{nearest}]?"),
            None => format!("the sections are {}", known.collect::<Vec<_>>().join(", ")),
        };
        self.fault(section, format!("unknown section; {hint}"), Some(origin));
    }

    fn unknown_key(&mut self, section: &str, name: &str, origin: Origin) {
        let path = format!("{section}.{name}");
        let here = || keys().filter(|key| key.section == section);
        let meant = nearest(name, here().flat_map(|key| with_file(key, key.name.to_owned(), FILE)))
            .map(|name| format!("{section}.{name}"))
            .or_else(|| keys().find(|key| key.name == name).map(Key::path))
            .or_else(|| nearest(&path, keys().flat_map(|key| with_file(key, key.path(), FILE))));
        let hint = if let Some(meant) = meant {
            format!("did you mean {meant}?")
        } else {
            let known: Vec<_> = here().map(|key| key.name).collect();
            format!("the keys of [{section}] are {}", known.join(", "))
        };
        self.fault(path, format!("unknown key; {hint}"), Some(origin));
    }

    fn unknown_variable(&mut self, name: &str) {
        let known = keys().flat_map(|key| with_file(key, key.variable(), FILE_VARIABLE));
        let hint = match nearest(&name[PREFIX.len()..], known.map(|known| known[PREFIX.len()..].to_owned())) {
            Some(nearest) => format!("did you mean {PREFIX}{nearest}?"),
            None => "`rookery config print` lists them all".to_owned(),
        };
        self.fault(name, format!("unknown environment variable; {hint}"), None);
    }
}

/// Every key of the table.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The names of a key: its own, and for a secret also the name with the suffix for files.
fn with_file(key: &Key, name: String, suffix: &str) -> impl Iterator<Item = String> {
    let by_file = key.secret.then(|| format!("{name}{suffix}"));
    std::iter::once(name).chain(by_file)
}

/// Whether `written` is the key itself (`false`) or the path of a file that contains it (`true`).
fn names_file<'a>(key: &'a Key, name: &str, suffix: &str, written: &str) -> Option<(&'a Key, bool)> {
    match written.strip_prefix(name)? {
        "" => Some((key, false)),
        rest => (key.secret && rest == suffix).then_some((key, true)),
    }
}

fn read_secret(given: &Given) -> Result<Given, String> {
    let path = given.value.as_text().filter(|path| !path.is_empty());
    let path = absolute(given.origin.folder(), Path::new(path.ok_or("is not the path of a file")?));
    let cannot = |problem: &dyn fmt::Display| format!("cannot read {}: {problem}", path.display());
    let size_bytes = fs::metadata(&path).map_err(|error| cannot(&error))?.len();
    if size_bytes > SECRET_FILE_LIMIT_BYTES {
        return Err(cannot(&format!("larger than {SECRET_FILE_LIMIT_BYTES} bytes")));
    }
    let text = fs::read_to_string(&path).map_err(|error| cannot(&error))?;
    Ok(Given {
        // Editors append a newline that is not part of the secret.
        value: Value::Bare(text.trim_end_matches(['\r', '\n']).to_owned()),
        origin: Origin::SecretFile(path.clone(), Box::new(given.origin.clone())),
    })
}

fn convert(value: &DeValue<'_>) -> Result<Value, &'static str> {
    match value {
        DeValue::String(text) => Ok(Value::Text(text.to_string())),
        DeValue::Boolean(flag) => Ok(Value::Flag(*flag)),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map(Value::Whole)
            .map_err(|_| "the number is too large"),
        DeValue::Float(number) => number.as_str().parse().map(Value::Decimal).map_err(|_| "is not a number"),
        DeValue::Array(items) => {
            let items: Result<_, _> = items.iter().map(|item| convert(item.get_ref())).collect();
            Ok(Value::List(items?))
        }
        DeValue::Table(_) => Err("is a key, not a section"),
        DeValue::Datetime(_) => Err("is not a date"),
    }
}
