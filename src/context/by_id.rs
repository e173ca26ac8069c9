//! A small map by id: a sorted list, which for the few dozen entries of a page costs less than a hash map.

/// Values by id.
#[derive(Clone, Debug)]
pub struct ById<K, V>(Vec<(K, V)>);

impl<K: Ord, V> ById<K, V> {
    /// The value of `id`.
    pub fn get(&self, id: &K) -> Option<&V> {
        self.0.binary_search_by(|(key, _)| key.cmp(id)).ok().map(|index| &self.0[index].1)
    }

    /// In ascending order of id.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.0.iter()
    }
}

impl<K, V> IntoIterator for ById<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Keeps one of several values with the same id.
impl<K: Ord + Copy, V> From<Vec<(K, V)>> for ById<K, V> {
    fn from(mut entries: Vec<(K, V)>) -> Self {
        entries.sort_unstable_by_key(|(key, _)| *key);
        entries.dedup_by_key(|(key, _)| *key);
        Self(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_found_by_id() {
        let values = ById::from(vec![(3, "c"), (1, "a"), (3, "c")]);
        assert_eq!([1, 2, 3].map(|id| values.get(&id).copied()), [Some("a"), None, Some("c")]);
    }
}
