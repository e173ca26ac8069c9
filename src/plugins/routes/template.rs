//! Path templates, and matching request paths against them.
//!
//! A path is split while it is still percent-encoded, so that an encoded slash never separates segments; each segment
//! is then decoded once: `%252F` as a parameter is `%2F`. A path that encodes what needs none (`/%61pi`) never comes
//! here: `http` answers it with 404.

use percent_encoding::percent_decode_str;

/// A path template, in segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// A literal segment.
    Fixed(String),
    /// A parameter; in core routes it may have a prefix (`@{name}`).
    Open { before: String, name: String },
    /// The rest of the path, at least one segment. Core routes only.
    Rest,
}

impl Template {
    /// Parses `/api/v1/antennas/{id}`; none for an invalid template.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let segments = text.strip_prefix('/')?.split('/').map(Segment::parse);
        segments.collect::<Option<_>>().map(Self)
    }

    /// The number of segments.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The names of the parameters, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Open { name, .. } => Some(name.as_str()),
            Segment::Fixed(_) | Segment::Rest => None,
        })
    }

    /// The decoded parameters, if `path` matches.
    pub(super) fn matches(&self, path: &Path<'_>) -> Option<Vec<String>> {
        if path.0.len() != self.0.len() {
            return None;
        }
        let mut params = Vec::new();
        for (segment, text) in self.0.iter().zip(&path.0) {
            match segment {
                Segment::Fixed(fixed) if fixed == text => {}
                Segment::Open { before, .. } => {
                    let value = text.strip_prefix(before.as_str())?;
                    if value.is_empty() {
                        return None;
                    }
                    params.push(value.to_owned());
                }
                Segment::Fixed(_) | Segment::Rest => return None,
            }
        }
        Some(params)
    }

    /// True when some path matches both.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        let rest = |segments: &[Segment]| matches!(segments.last(), Some(Segment::Rest));
        let long_enough = match (rest(&self.0), rest(&other.0)) {
            (false, false) => self.len() == other.len(),
            (true, false) => self.len() <= other.len(),
            (false, true) => other.len() <= self.len(),
            (true, true) => true,
        };
        long_enough && pairs.all(|(one, two)| one.meets(two))
    }

    /// True when this is nested under `other`: its first segments match the same paths.
    pub(super) fn continues(&self, other: &Self) -> bool {
        other.len() < self.len() && Self(self.0[..other.len()].to_vec()).overlaps(other)
    }

    /// The last literal segment: `statuses` of `/api/v1/statuses/{id}`.
    pub(super) fn resource(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|segment| match segment {
            Segment::Fixed(text) if !text.is_empty() => Some(text.as_str()),
            Segment::Fixed(_) | Segment::Open { .. } | Segment::Rest => None,
        })
    }

    /// True when both have the same segments up to and including `resource`.
    pub(super) fn shares(&self, other: &Self, resource: &str) -> bool {
        let at =
            |template: &Self| template.0.iter().position(|it| matches!(it, Segment::Fixed(text) if text == resource));
        match (at(self), at(other)) {
            (Some(mine), Some(theirs)) => mine == theirs && self.0[..mine] == other.0[..theirs],
            (None, _) | (_, None) => false,
        }
    }

    /// A sort key: literal segments before parameters, so that the more specific of two templates that match the same
    /// path is smaller.
    pub(super) fn closeness(&self) -> Vec<bool> {
        self.0.iter().map(|segment| !matches!(segment, Segment::Fixed(_))).collect()
    }
}

impl Segment {
    fn parse(text: &str) -> Option<Self> {
        let Some((before, rest)) = text.split_once('{') else {
            return Some(Self::Fixed(text.to_owned()));
        };
        let name = rest.strip_suffix('}')?;
        if name.starts_with('*') {
            return Some(Self::Rest);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!name.is_empty() && name.chars().all(plain))
            .then(|| Self::Open { before: before.to_owned(), name: name.to_owned() })
    }

    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rest, _) | (_, Self::Rest) => true,
            (Self::Fixed(one), Self::Fixed(two)) => one == two,
            (Self::Fixed(text), Self::Open { before, .. }) | (Self::Open { before, .. }, Self::Fixed(text)) => {
                text.starts_with(before.as_str()) && text.len() > before.len()
            }
            (Self::Open { before: one, .. }, Self::Open { before: two, .. }) => {
                one.starts_with(two.as_str()) || two.starts_with(one.as_str())
            }
        }
    }
}

/// A request path: its segments, each decoded once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path<'a>(Vec<std::borrow::Cow<'a, str>>);

impl<'a> Path<'a> {
    /// Parses the raw path of a request; none when a segment is empty or not UTF-8.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let segments = text.strip_prefix('/')?.split('/');
        let decode = |segment: &'a str| {
            let decoded = percent_decode_str(segment).decode_utf8().ok()?;
            (!decoded.is_empty()).then_some(decoded)
        };
        segments.map(decode).collect::<Option<_>>().map(Self)
    }

    /// The number of segments.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(template: &str, path: &str) -> Option<Vec<String>> {
        Template::parse(template).expect("a path").matches(&Path::parse(path)?)
    }

    #[test]
    fn segment_may_hold_anything_but_slash() {
        let template = "/api/v1/statuses/{status}/emoji_reactions/{emoji}";
        let emoji = |text: &str| found(template, &format!("/api/v1/statuses/1/emoji_reactions/{text}"));
        for (sent, meant) in [
            ("%F0%9F%91%8D", "👍"),
            ("👍", "👍"),
            ("name@domain", "name@domain"),
            ("name%40domain", "name@domain"),
            (":name:", ":name:"),
            ("a%2Fb", "a/b"),
            ("%252F", "%2F"),
            ("%E2%9D%A4%EF%B8%8F", "❤\u{fe0f}"),
        ] {
            assert_eq!(emoji(sent), Some(vec!["1".to_owned(), meant.to_owned()]), "{sent}");
        }
        for nothing in ["", "a/b", "%FF"] {
            assert_eq!(emoji(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn fixed_segments_are_the_same_however_they_are_encoded() {
        assert_eq!(found("/api/v1/antennas", "/api/v1/%61ntennas"), Some(Vec::new()));
        assert_eq!(found("/api/v1/antennas", "/api%2Fv1/antennas"), None);
        assert_eq!(found("/api/v1/antennas", "/api/v1/antennas/"), None);
        assert_eq!(found("/api/v1/antennas", "//api/v1/antennas"), None);
    }

    #[test]
    fn overlapping_means_that_one_path_would_have_two_owners() {
        let overlap = |one: &str, two: &str| {
            let [one, two] = [one, two].map(|text| Template::parse(text).expect("a path"));
            assert_eq!(one.overlaps(&two), two.overlaps(&one));
            one.overlaps(&two)
        };
        assert!(overlap("/api/v1/statuses/{a}", "/api/v1/statuses/{b}"));
        assert!(overlap("/api/v1/{any}/home", "/api/v1/timelines/{which}"));
        assert!(overlap("/media/{*key}", "/media/a/b/c"));
        assert!(overlap("/@{name}", "/{anything}"));
        assert!(!overlap("/@{name}", "/about"));
        assert!(!overlap("/media/{*key}", "/media"));
        assert!(!overlap("/api/v1/statuses/{a}", "/api/v1/statuses/{a}/b"));
    }

    #[test]
    fn malformed_path_is_no_template() {
        for text in ["api", "", "/a/{b", "/a/{}", "/a/{b}c", "/a/{b-c}"] {
            assert_eq!(Template::parse(text), None, "{text}");
        }
    }
}
