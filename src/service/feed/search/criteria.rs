//! Parses a search query for statuses: its words and its operators.
//!
//! Spec: docs/contract/rules.md#16-search.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::document::{self, PROPERTIES};
use super::{Query, account_named};
use context::Cx;
use context::error::{Error, Result};
use model::account::Searchability;
use model::clock::Ids;
use model::{Actor, StatusId, Time};
use store::status_search::Ways;
use text::search::{Clause, Kind, MAX_CLAUSES, Phrase};

/// The operators: what may precede a colon in a query.
const OPERATORS: &[&str] =
    &["from", "has", "is", "language", "before", "after", "during", "in", "my", "domain", "order", "searchability"];
/// Operators that may be preceded by `-`.
const NEGATABLE: &[&str] = &["from", "has", "is", "language", "my", "domain"];

/// Where statuses are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scope {
    #[default]
    All,
    /// The viewer's own statuses, and statuses that mention the viewer or with which the viewer interacted.
    Library,
    /// Statuses that anyone may find.
    Public,
    /// Statuses of followed accounts.
    Following,
}

/// The values of `my:` that the server itself defines; extensions add their own.
pub const MARKS: &[&str] = &["favourited", "bookmarked", "reblogged"];

/// An interaction of the viewer with a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Favourited,
    Bookmarked,
    Reblogged,
    /// A mark that an extension stores, by the value in the query.
    Other(String),
}

/// A condition that must hold, or must not.
#[derive(Clone, Debug)]
pub(super) struct Condition<T> {
    pub(super) what: T,
    pub(super) negated: bool,
}

/// The parsed conditions of a query.
#[derive(Clone, Debug)]
pub(super) struct Criteria {
    pub(super) words: Vec<Condition<Phrase>>,
    pub(super) facts: Vec<Condition<String>>,
    pub(super) marks: Vec<Condition<Mark>>,
    /// `domain:`, in lower case.
    pub(super) domains: Vec<Condition<String>>,
    pub(super) after: StatusId,
    pub(super) before: StatusId,
    pub(super) scope: Scope,
    /// The widest searchability to include: as wide as anyone's, or at most the viewer's own.
    pub(super) level: Searchability,
    pub(super) oldest_first: bool,
}

impl Criteria {
    /// Parses `query`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unknown operator, an invalid value or too many words, [`Error::NotFound`] when
    /// `from:` names an unknown account.
    pub(super) async fn read(cx: &Cx, viewer: Option<&Actor>, query: &Query) -> Result<Self> {
        let clauses = text::search::parse(&query.q)
            .map_err(|_| Error::invalid(format!("q: has more than {MAX_CLAUSES} words and operators")))?;
        let mut criteria = Self {
            words: Vec::new(),
            facts: Vec::new(),
            marks: Vec::new(),
            domains: Vec::new(),
            after: query.min_id.unwrap_or(StatusId::from(0)),
            before: query.max_id.unwrap_or(StatusId::from(i64::MAX)),
            scope: Scope::All,
            level: Searchability::Public,
            oldest_first: false,
        };
        let known: Vec<String> = cx.extensions().search_words();
        for Clause { negated, kind } in clauses {
            match kind {
                Kind::Words(what) => criteria.words.push(Condition { what, negated }),
                Kind::Operator { name, value } if name == "from" => {
                    let what = document::by(account_named(cx, viewer, &value).await?);
                    criteria.facts.push(Condition { what, negated });
                }
                Kind::Operator { name, value } => criteria.operator(&name, &value, negated, &known)?,
            }
        }
        if let Some(level) = &query.searchability {
            criteria.level = level_of(level)?;
        }
        if let Some(account) = query.account_id {
            criteria.facts.push(Condition { what: document::by(account), negated: false });
        }
        Ok(criteria)
    }

    /// `words`: the values of `my:` that extensions serve.
    fn operator(&mut self, name: &str, value: &str, negated: bool, words: &[String]) -> Result<()> {
        if !OPERATORS.contains(&name) {
            return Err(Error::invalid(format!("{name}: unknown search operator; known are {}", OPERATORS.join(", "))));
        }
        if negated && !NEGATABLE.contains(&name) {
            return Err(Error::invalid(format!("-{name}: cannot be negated")));
        }
        let lower = value.to_lowercase();
        match name {
            "has" | "is" => {
                let property = one_of(name, &lower, PROPERTIES)?;
                self.facts.push(Condition { what: format!("has:{property}"), negated });
            }
            "language" => self.facts.push(Condition { what: format!("language:{lower}"), negated }),
            "domain" => self.domains.push(Condition { what: lower.trim_start_matches('@').to_owned(), negated }),
            "before" => self.narrow(None, Some(period(name, value)?.0)),
            "after" => self.narrow(Some(period(name, value)?.1), None),
            "during" => {
                let (start, end) = period(name, value)?;
                self.narrow(Some(start), Some(end));
            }
            "in" => self.scope = scope(&lower)?,
            "my" => self.marks.push(Condition { what: mark(lower, words)?, negated }),
            "order" => self.oldest_first = one_of(name, &lower, &["desc", "asc"])? == "asc",
            _ => self.level = level_of(&lower)?,
        }
        Ok(())
    }

    /// Statuses from `start` on and before `end`, by the time of their ids.
    fn narrow(&mut self, start: Option<Time>, end: Option<Time>) {
        if let Some(start) = start {
            self.after = self.after.max(StatusId::from(Ids::first_at(start) - 1));
        }
        if let Some(end) = end {
            self.before = self.before.min(StatusId::from(Ids::first_at(end)));
        }
    }

    /// The word of the first required mark of an extension. It leads the search when no word of a status is rare.
    pub(super) fn wanted_mark(&self) -> Option<&str> {
        self.marks.iter().find_map(|mark| match &mark.what {
            Mark::Other(word) if !mark.negated => Some(word.as_str()),
            _ => None,
        })
    }

    /// The ways in which statuses may be found.
    pub(super) fn ways(&self) -> Ways {
        use Searchability as Level;
        let ways = match self.level {
            Level::Public | Level::PublicUnlisted => Ways { own: true, public: true, followed: true, library: true },
            Level::Private => Ways { own: true, public: false, followed: true, library: true },
            Level::Direct => Ways { own: true, public: false, followed: false, library: true },
            Level::Limited => Ways { own: true, public: false, followed: false, library: false },
        };
        match self.scope {
            Scope::All | Scope::Following => ways,
            Scope::Library => Ways { public: false, followed: false, ..ways },
            Scope::Public => Ways { own: false, followed: false, library: false, ..ways },
        }
    }
}

fn one_of<'a>(name: &str, value: &'a str, known: &[&str]) -> Result<&'a str> {
    if known.contains(&value) {
        return Ok(value);
    }
    Err(Error::invalid(format!("{name}: must be one of {}", known.join(", "))))
}

fn scope(value: &str) -> Result<Scope> {
    match one_of("in", value, &["all", "library", "public", "following"])? {
        "library" => Ok(Scope::Library),
        "public" => Ok(Scope::Public),
        "following" => Ok(Scope::Following),
        _ => Ok(Scope::All),
    }
}

fn mark(value: String, words: &[String]) -> Result<Mark> {
    if words.contains(&value) {
        return Ok(Mark::Other(value));
    }
    let known: Vec<&str> = MARKS.iter().copied().chain(words.iter().map(String::as_str)).collect();
    match one_of("my", &value, &known)? {
        "favourited" => Ok(Mark::Favourited),
        "bookmarked" => Ok(Mark::Bookmarked),
        _ => Ok(Mark::Reblogged),
    }
}

fn level_of(value: &str) -> Result<Searchability> {
    let known = ["public", "private", "direct", "limited"];
    Ok(one_of("searchability", value, &known)?.parse().unwrap_or(Searchability::Public))
}

/// The period of a day `YYYY-MM-DD` (UTC), or of a millisecond since the epoch: its start, and its end (exclusive).
fn period(name: &str, value: &str) -> Result<(Time, Time)> {
    let fault = || Error::invalid(format!("{name}: must be a date, YYYY-MM-DD, or milliseconds since the epoch"));
    let day = |date: NaiveDate| date.and_time(chrono::NaiveTime::MIN).and_utc();
    let (start, length): (DateTime<Utc>, TimeDelta) = if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit())
    {
        let millis = value.parse().map_err(|_| fault())?;
        (DateTime::from_timestamp_millis(millis).ok_or_else(fault)?, TimeDelta::milliseconds(1))
    } else {
        (day(NaiveDate::parse_from_str(value, "%Y-%m-%d").map_err(|_| fault())?), TimeDelta::days(1))
    };
    // Ids hold times up to some 4,000 years from the epoch.
    let latest = DateTime::from_timestamp_millis(i64::MAX >> 17).ok_or_else(fault)?;
    if start < DateTime::UNIX_EPOCH || start > latest {
        return Err(fault());
    }
    let time = |at: DateTime<Utc>| Time::from_micros(at.timestamp_micros());
    Ok((time(start), time(start + length)))
}
