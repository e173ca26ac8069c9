//! The order in which plugins are called at one moment: a topological sort by `before` and `after`, ties broken by
//! priority (smaller first), then by name.

use std::collections::{BTreeMap, BTreeSet};

use rookery_plugin_host::{LoadError, Stage};

/// What determines the position of a hook among others.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its plugin.
    pub plugin: &'a str,
    /// Small numbers first.
    pub priority: i32,
    /// Plugins that come after it. Names of absent plugins are ignored.
    pub before: &'a [String],
    /// Plugins that come before it.
    pub after: &'a [String],
}

/// The indices of `places`, sorted. `moment` is for the error message.
///
/// # Errors
/// At [`Stage::Conflict`] when `before` and `after` form a cycle, naming its plugins.
pub fn order(moment: &str, places: &[Place<'_>]) -> Result<Vec<usize>, LoadError> {
    let mut waits: BTreeMap<usize, BTreeSet<usize>> =
        (0..places.len()).map(|index| (index, earlier(index, places))).collect();
    let mut order = Vec::with_capacity(places.len());
    while !waits.is_empty() {
        let free = waits.iter().filter(|(_, earlier)| earlier.is_empty()).map(|(index, _)| *index);
        let Some(next) = free.min_by_key(|index| (places[*index].priority, places[*index].plugin, *index)) else {
            return Err(circle(moment, waits.keys().map(|index| places[*index].plugin)));
        };
        waits.remove(&next);
        for earlier in waits.values_mut() {
            earlier.remove(&next);
        }
        order.push(next);
    }
    Ok(order)
}

/// The places that come before the one at `index`, by its own declaration or theirs.
fn earlier(index: usize, places: &[Place<'_>]) -> BTreeSet<usize> {
    let own = places[index];
    let precedes = |other: &Place<'_>| {
        other.plugin != own.plugin
            && (own.after.iter().any(|name| name == other.plugin) || other.before.iter().any(|name| name == own.plugin))
    };
    places.iter().enumerate().filter(|(_, other)| precedes(other)).map(|(index, _)| index).collect()
}

fn circle<'a>(moment: &str, plugins: impl Iterator<Item = &'a str>) -> LoadError {
    let names: BTreeSet<&str> = plugins.collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    LoadError::new(
        Stage::Conflict,
        format!("the plugins {names} wait for each other at {moment}: change before or after in the manifest of one"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<'a>(plugin: &'a str, priority: i32, before: &'a [String], after: &'a [String]) -> Place<'a> {
        Place { plugin, priority, before, after }
    }

    fn names<'a>(places: &[Place<'a>]) -> Vec<&'a str> {
        order("status-filter", places).unwrap().into_iter().map(|index| places[index].plugin).collect()
    }

    #[test]
    fn small_priorities_come_first_and_ties_go_by_name_whatever_the_order_given() {
        let [a, b, c] = [place("a", 100, &[], &[]), place("b", 100, &[], &[]), place("c", 5, &[], &[])];
        assert_eq!(names(&[a, b, c]), ["c", "a", "b"]);
        assert_eq!(names(&[b, c, a]), ["c", "a", "b"]);
    }

    #[test]
    fn before_and_after_bind_more_than_priorities() {
        let (to_a, to_z) = (["a".to_owned()], ["z".to_owned(), "nobody".to_owned()]);
        assert_eq!(names(&[place("a", 1, &[], &[]), place("b", 2, &to_a, &[])]), ["b", "a"]);
        let last = place("a", 1, &[], &to_z);
        assert_eq!(names(&[last, place("m", 50, &[], &[]), place("z", 90, &[], &[])]), ["m", "z", "a"]);
    }

    #[test]
    fn a_circle_is_refused_with_those_in_it() {
        let (to_a, to_b) = (["a".to_owned()], ["b".to_owned()]);
        let places = [place("a", 1, &to_b, &[]), place("b", 1, &to_a, &[]), place("c", 1, &[], &[])];
        let fault = order("events", &places).unwrap_err();
        assert_eq!(fault.stage, Stage::Conflict);
        assert!(fault.message.starts_with("the plugins a, b wait for each other at events"), "{fault}");
    }
}
