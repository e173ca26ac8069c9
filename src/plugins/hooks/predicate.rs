//! The native predicate of a hook, evaluated before any call: a status that no plugin wants costs a few comparisons.

use rookery_plugin_host::{LoadError, Stage};

use crate::codes::visibility_code;
use context::change::StatusTraits;
use model::Visibility;
use plugin_package::manifest::When;

/// A compiled `when`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Predicate {
    /// One bit for each visibility; 0 admits any.
    visibilities: u8,
    local: Option<bool>,
    reblog: Option<bool>,
    reply: Option<bool>,
    media: Option<bool>,
}

impl Predicate {
    /// Compiles `when` of `plugin`.
    ///
    /// # Errors
    /// At [`Stage::Validate`] for an unknown visibility.
    pub fn new(plugin: &str, when: &When) -> Result<Self, LoadError> {
        let mut visibilities = 0;
        for word in &when.visibility {
            let visibility: Visibility = word.replace('-', "_").parse().map_err(|known| {
                LoadError::new(
                    Stage::Validate,
                    format!("plugin {plugin}: {word:?} is no visibility in a hook's when: {known}"),
                )
            })?;
            visibilities |= 1 << visibility_code(visibility);
        }
        Ok(Self { visibilities, local: when.local, reblog: when.reblog, reply: when.reply, media: when.media })
    }

    /// True when the plugin is to be called for such a status.
    #[must_use]
    pub fn admits(&self, status: &StatusTraits) -> bool {
        let fits = |wanted: Option<bool>, is: bool| wanted.is_none_or(|wanted| wanted == is);
        (self.visibilities == 0 || self.visibilities & (1 << visibility_code(status.visibility)) != 0)
            && fits(self.local, status.local)
            && fits(self.reblog, status.reblog)
            && fits(self.reply, status.reply)
            && fits(self.media, status.media)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: StatusTraits =
        StatusTraits { visibility: Visibility::Public, local: true, reblog: false, reply: false, media: false };

    fn predicate(when: &When) -> Predicate {
        Predicate::new("x", when).unwrap()
    }

    #[test]
    fn absent_condition_matches_anything() {
        assert!(Predicate::default().admits(&STATUS));
        assert!(Predicate::default().admits(&StatusTraits { visibility: Visibility::Direct, reblog: true, ..STATUS }));
    }

    #[test]
    fn visibilities_are_written_with_either_dash() {
        let words = ["public-unlisted", "public_unlisted", "login"].map(str::to_owned).to_vec();
        let listed = predicate(&When { visibility: words, ..When::default() });
        assert!(listed.admits(&StatusTraits { visibility: Visibility::PublicUnlisted, ..STATUS }));
        assert!(listed.admits(&StatusTraits { visibility: Visibility::Login, ..STATUS }));
        assert!(!listed.admits(&STATUS));
        let unknown = When { visibility: vec!["everyone".to_owned()], ..When::default() };
        assert!(Predicate::new("x", &unknown).unwrap_err().message.contains("\"everyone\" is no visibility"));
    }

    #[test]
    fn every_condition_must_hold() {
        let when = When { local: Some(true), reblog: Some(false), media: Some(true), ..When::default() };
        let wanted = predicate(&when);
        assert!(wanted.admits(&StatusTraits { media: true, ..STATUS }));
        assert!(!wanted.admits(&STATUS));
        assert!(!wanted.admits(&StatusTraits { media: true, reblog: true, ..STATUS }));
        assert!(!wanted.admits(&StatusTraits { media: true, local: false, ..STATUS }));
    }
}
