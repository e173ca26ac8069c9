//! The recipients of a status, and who may find it by search (docs/contract/federation.md#3-documents-sent,
//! "Addressing").

use super::PUBLIC;
use model::account::Searchability;
use model::{Status, Visibility};

/// The recipients of a document (`to`) and of copies (`cc`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Audience {
    pub(super) to: Vec<String>,
    pub(super) cc: Vec<String>,
}

/// The audience of a status of the actor `author` that mentions the actors `mentioned`.
pub(super) fn of(visibility: Visibility, author: &str, mentioned: &[String], context: Option<&str>) -> Audience {
    let followers = || format!("{author}/followers");
    let with = |first: Vec<String>| first.into_iter().chain(mentioned.iter().cloned()).collect();
    match visibility {
        Visibility::Public => Audience { to: vec![PUBLIC.to_owned()], cc: with(vec![followers()]) },
        Visibility::Unlisted | Visibility::PublicUnlisted => {
            Audience { to: vec![followers()], cc: with(vec![PUBLIC.to_owned()]) }
        }
        Visibility::Login => Audience {
            to: [followers().as_str(), "as:LoginOnly", "kmyblue:LoginOnly", "LoginUser"].map(str::to_owned).into(),
            cc: with(Vec::new()),
        },
        Visibility::Private => Audience { to: vec![followers()], cc: with(Vec::new()) },
        Visibility::Direct => Audience { to: with(Vec::new()), cc: Vec::new() },
        Visibility::Limited => Audience { to: vec![context.unwrap_or("kmyblue:Limited").to_owned()], cc: Vec::new() },
    }
}

/// The actors who may find a status of `author` by its words.
pub(super) fn searchable_by(status: &Status, author: &str, mentioned: &[String]) -> Vec<String> {
    let mut found = match status.searchability {
        Searchability::Public => vec![PUBLIC.to_owned()],
        Searchability::Private | Searchability::PublicUnlisted => vec![format!("{author}/followers")],
        Searchability::Limited => vec!["as:Limited".to_owned(), "kmyblue:Limited".to_owned()],
        Searchability::Direct => vec![author.to_owned()],
    };
    found.extend(mentioned.iter().cloned());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_status_addresses_only_the_mentioned() {
        let (ann, bob) = ("https://a.test/users/ann", "https://b.test/bob".to_owned());
        let followers = format!("{ann}/followers");
        let of = |visibility| of(visibility, ann, std::slice::from_ref(&bob), None);
        assert_eq!(of(Visibility::Direct), Audience { to: vec![bob.clone()], cc: Vec::new() });
        assert_eq!(of(Visibility::Private), Audience { to: vec![followers.clone()], cc: vec![bob.clone()] });
        assert_eq!(of(Visibility::Public).cc, [followers.clone(), bob.clone()]);
        assert_eq!(
            of(Visibility::Unlisted),
            Audience { to: vec![followers], cc: vec![PUBLIC.to_owned(), bob.clone()] }
        );
        let few = [Visibility::Login, Visibility::Private, Visibility::Direct, Visibility::Limited].map(of);
        assert!(few.iter().all(|audience| audience.to.iter().chain(&audience.cc).all(|one| one != PUBLIC)));
    }
}
