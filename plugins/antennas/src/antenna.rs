//! An antenna as its owner sets it: flags, targets, and how many of a kind one person may have.

use serde::Serialize;

use crate::fault::Fault;
use crate::terms::Terms;

/// How many antennas a person may have.
pub const MOST: usize = 30;
/// The longest title, in characters.
pub const TITLE_MAX: u32 = 256;
/// How many accounts one antenna may list, and how many it may leave out.
pub const MOST_ACCOUNTS: usize = 100;

/// The owner's choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    pub title: String,
    /// 0: none.
    pub list_id: i64,
    pub insert_feeds: bool,
    pub stl: bool,
    pub ltl: bool,
    pub with_media_only: bool,
    pub ignore_reblog: bool,
}

/// Where an antenna's statuses go besides its own feed: one antenna of the same timeline flag for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    Home,
    List,
}

impl Choices {
    fn place(&self) -> Place {
        match (self.insert_feeds, self.list_id) {
            (false, _) => Place::Nowhere,
            (true, 0) => Place::Home,
            (true, _) => Place::List,
        }
    }

    /// Whether an antenna with the same timeline flag leaves no room for this one.
    fn clashes(&self, other: &Self) -> bool {
        match self.place() {
            Place::Nowhere => !other.insert_feeds,
            Place::Home => other.list_id == 0,
            Place::List => other.list_id != 0,
        }
    }

    /// Checks the choices against the owner's other antennas.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, others: &[Self]) -> Result<(), Fault> {
        if self.title.trim().is_empty() {
            return Err(Fault::TitleBlank);
        }
        if self.title.chars().count() > TITLE_MAX as usize {
            return Err(Fault::TitleLong);
        }
        if self.stl && others.iter().any(|other| other.stl && self.clashes(other)) {
            return Err(Fault::SocialTaken);
        }
        if self.ltl && others.iter().any(|other| other.ltl && self.clashes(other)) {
            return Err(Fault::LocalTaken);
        }
        Ok(())
    }
}

/// `Antenna`, as clients see it. Fields in the documented order.
#[derive(Debug, Serialize)]
pub struct Entity {
    pub id: String,
    pub title: String,
    pub stl: bool,
    pub ltl: bool,
    pub insert_feeds: bool,
    pub with_media_only: bool,
    pub ignore_reblog: bool,
    pub accounts_count: i64,
    pub domains_count: usize,
    pub tags_count: usize,
    pub keywords_count: usize,
    pub list: Option<List>,
}

/// The list that an antenna inserts into, once it inserts.
#[derive(Debug, Serialize)]
pub struct List {
    pub id: String,
    pub title: String,
}

impl Entity {
    /// From the table's row.
    #[must_use]
    pub fn new(id: i64, choices: Choices, terms: &Terms, accounts_count: i64, list_title: Option<String>) -> Self {
        let list = list_title.map(|title| List { id: choices.list_id.to_string(), title });
        Self {
            id: id.to_string(),
            title: choices.title,
            stl: choices.stl,
            ltl: choices.ltl,
            insert_feeds: choices.insert_feeds,
            with_media_only: choices.with_media_only,
            ignore_reblog: choices.ignore_reblog,
            accounts_count,
            domains_count: terms.domains.len(),
            tags_count: terms.tags.len(),
            keywords_count: terms.keywords.len(),
            list,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stl(insert_feeds: bool, list_id: i64) -> Choices {
        Choices { title: "social".into(), stl: true, insert_feeds, list_id, ..Choices::default() }
    }

    #[test]
    fn a_title_is_needed() {
        let blank = Choices { title: " \n".into(), ..Choices::default() };
        assert_eq!(blank.check(&[]), Err(Fault::TitleBlank));
        let long = |count| Choices { title: "猫".repeat(count), ..Choices::default() };
        assert_eq!(long(256).check(&[]), Ok(()));
        assert!(long(257).check(&[]).is_err());
    }

    #[test]
    fn a_list_is_shown_also_before_something_is_inserted_into_it() {
        let shown = |insert_feeds| {
            let choices = Choices { insert_feeds, list_id: 7, ..Choices::default() };
            Entity::new(1, choices, &Terms::default(), 0, Some("Friends".into())).list.map(|list| list.id)
        };
        assert_eq!((shown(true), shown(false)), (Some("7".into()), Some("7".into())));
    }

    #[test]
    fn one_social_timeline_for_each_place() {
        let (nowhere, home, list) = (stl(false, 0), stl(true, 0), stl(true, 7));
        assert!(nowhere.check(std::slice::from_ref(&nowhere)).is_err());
        assert!(home.check(std::slice::from_ref(&home)).is_err());
        assert!(list.check(&[stl(true, 8)]).is_err(), "another list is the same place");
        assert!(nowhere.check(&[home.clone(), list.clone()]).is_ok());
        assert!(list.check(&[nowhere.clone(), home.clone()]).is_ok());
        assert!(home.check(std::slice::from_ref(&list)).is_ok());
        assert!(home.check(&[nowhere]).is_err(), "counted by list_id alone, as the contract has it");
    }

    #[test]
    fn the_local_timeline_is_counted_apart() {
        let local = Choices { title: "local".into(), ltl: true, ..Choices::default() };
        assert!(local.check(&[stl(false, 0)]).is_ok());
        assert!(local.check(std::slice::from_ref(&local)).is_err());
        let ordinary = Choices { title: "cats".into(), ..Choices::default() };
        assert!(ordinary.check(&[ordinary.clone(), local]).is_ok());
    }
}
