//! `sql/queries.sql`: named statements with their annotations.

use database::Engine;
use database::confined::{ParamType, is_name};

/// The shape of a statement's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Exactly one row.
    One,
    /// Any number of rows.
    Many,
    /// A row or none.
    Optional,
    /// The number of changed rows.
    Exec,
    /// A page of statuses: column `id`, and `page_id` where the pagination key is another.
    Statuses,
    /// A page of accounts, likewise.
    Accounts,
    /// A row if the caller is authorised.
    Owner,
}

impl Returns {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "one" => Self::One,
            "many" => Self::Many,
            "optional" => Self::Optional,
            "exec" => Self::Exec,
            "page(status)" => Self::Statuses,
            "page(account)" => Self::Accounts,
            "owner" => Self::Owner,
            _ => return None,
        })
    }
}

/// A statement as written in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Unique in the file.
    pub name: String,
    /// The shape of its result.
    pub returns: Returns,
    /// Most rows, if declared.
    pub max_rows: Option<usize>,
    /// Names and types of the parameters, in order.
    pub params: Vec<(String, ParamType)>,
    /// The text for both engines, or one for each.
    texts: Vec<(Option<Engine>, String)>,
}

impl Source {
    /// The text that `engine` runs.
    #[must_use]
    pub fn text(&self, engine: Engine) -> Option<&str> {
        let find = |wanted| self.texts.iter().find(|(of, text)| *of == wanted && !text.trim().is_empty());
        find(Some(engine)).or_else(|| find(None)).map(|(_, text)| text.as_str())
    }

    /// The name of the engine that has no text.
    fn missing(&self) -> Option<&'static str> {
        match (self.text(Engine::Sqlite), self.text(Engine::Postgres)) {
            (Some(_), Some(_)) => None,
            (None, _) => Some("SQLite"),
            (_, None) => Some("PostgreSQL"),
        }
    }
}

/// Parses the file.
///
/// # Errors
/// The mistake and its place, as a clause: "line 4: …".
pub fn read(text: &str) -> Result<Vec<Source>, String> {
    let mut sources: Vec<Source> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let at = |what: String| format!("line {}: {what}", number + 1);
        let annotation = line.trim_start().strip_prefix("--").map(str::trim);
        match annotation.and_then(|text| text.split_once(':')).map(|(key, rest)| (key.trim(), rest.trim())) {
            Some(("name", rest)) => sources.push(head(rest).map_err(at)?),
            Some(("params", rest)) => {
                let source =
                    sources.last_mut().ok_or_else(|| at("-- params: must follow a -- name: line".to_owned()))?;
                source.params.extend(params(rest).map_err(at)?);
            }
            Some(("dialect", rest)) => {
                let engine = match rest {
                    "sqlite" => Engine::Sqlite,
                    "postgres" => Engine::Postgres,
                    _ => return Err(at(format!("{rest} is no dialect: write sqlite or postgres"))),
                };
                let source =
                    sources.last_mut().ok_or_else(|| at("-- dialect: must follow a -- name: line".to_owned()))?;
                source.texts.retain(|(_, text)| !text.trim().is_empty());
                source.texts.push((Some(engine), String::new()));
            }
            _ if annotation.is_some() => {}
            _ => append(&mut sources, line).map_err(at)?,
        }
    }
    finish(sources)
}

/// Appends a line of SQL to the current statement.
fn append(sources: &mut [Source], line: &str) -> Result<(), String> {
    match sources.last_mut().and_then(|source| source.texts.last_mut()) {
        Some((_, text)) => {
            text.push_str(line);
            text.push('\n');
            Ok(())
        }
        None if line.trim().is_empty() => Ok(()),
        None => Err("SQL must follow a \"-- name:\" line".to_owned()),
    }
}

fn finish(sources: Vec<Source>) -> Result<Vec<Source>, String> {
    for (index, source) in sources.iter().enumerate() {
        if sources[..index].iter().any(|other| other.name == source.name) {
            return Err(format!("two statements are called {}: rename one", source.name));
        }
        if let Some(engine) = source.missing() {
            return Err(format!("{} has no text for {engine}: add one under \"-- dialect:\"", source.name));
        }
    }
    Ok(sources)
}

/// `antennas_of   returns: many   max-rows: 5000`
fn head(text: &str) -> Result<Source, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default().to_owned();
    if !is_name(&name) {
        return Err(format!("\"{name}\" is no name of a statement: use a-z, 0-9 and _"));
    }
    let mut source =
        Source { name, returns: Returns::Many, max_rows: None, params: Vec::new(), texts: vec![(None, String::new())] };
    let mut returns = None;
    while let Some(key) = words.next() {
        let value = words.next().unwrap_or_default();
        match key {
            "returns:" => returns = Some(Returns::parse(value).ok_or_else(|| wrong_returns(value))?),
            "max-rows:" => {
                source.max_rows = Some(value.parse().map_err(|_| format!("max-rows: {value} is no number"))?);
            }
            _ => return Err(format!("{key} is not known here: there are returns: and max-rows:")),
        }
    }
    source.returns = returns.ok_or_else(|| wrong_returns(""))?;
    Ok(source)
}

fn wrong_returns(value: &str) -> String {
    format!("returns: {value} is none of one, many, optional, exec, page(status), page(account) and owner")
}

/// `text domain, integer author, json tags`
fn params(text: &str) -> Result<Vec<(String, ParamType)>, String> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| match pair.split_whitespace().collect::<Vec<_>>().as_slice() {
            [kind, name] if is_name(name) => Ok(((*name).to_owned(), param_kind(kind)?)),
            _ => Err(format!("\"{pair}\" is no parameter: write a type and a name")),
        })
        .collect()
}

fn param_kind(word: &str) -> Result<ParamType, String> {
    Ok(match word {
        "boolean" => ParamType::Boolean,
        "integer" => ParamType::Integer,
        "real" => ParamType::Real,
        "text" => ParamType::Text,
        "blob" => ParamType::Blob,
        "json" => ParamType::Json,
        "integers" => ParamType::Integers,
        "texts" => ParamType::Texts,
        _ => {
            return Err(format!(
                "{word} is none of the types boolean, integer, real, text, blob, json, integers and texts"
            ));
        }
    })
}
