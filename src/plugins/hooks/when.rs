//! What the host looks at before it asks a plugin at all: a status that nobody wants costs a few comparisons.

use rookery_plugin_host::{Fault, Stage};
use serde::{Deserialize, Serialize};

use crate::plugins::manifest::When;
use crate::plugins::records::visibility_code;
use model::{Status, Visibility};
use store::publish::NewStatus;

/// What of a status predicates look at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Traits {
    pub visibility: Visibility,
    pub local: bool,
    pub reblog: bool,
    pub reply: bool,
    pub media: bool,
}

impl From<&Status> for Traits {
    fn from(status: &Status) -> Self {
        Self {
            visibility: status.visibility,
            local: status.local,
            reblog: status.reblog_of_id.is_some(),
            reply: status.in_reply_to_id.is_some(),
            media: status.has_media,
        }
    }
}

impl From<&NewStatus> for Traits {
    fn from(status: &NewStatus) -> Self {
        Self {
            visibility: status.visibility,
            local: true,
            reblog: status.reblog_of_id.is_some(),
            reply: status.in_reply_to_id.is_some(),
            media: status.has_media,
        }
    }
}

/// A manifest's `when`, ready to be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Predicate {
    /// One bit for each visibility; none: any.
    visibilities: u8,
    local: Option<bool>,
    reblog: Option<bool>,
    reply: Option<bool>,
    media: Option<bool>,
}

impl Predicate {
    /// The predicate of `plugin`'s `when`.
    ///
    /// # Errors
    /// At [`Stage::Validate`] for a visibility that there is not.
    pub fn new(plugin: &str, when: &When) -> Result<Self, Fault> {
        let mut visibilities = 0;
        for word in &when.visibility {
            let visibility: Visibility = word.replace('-', "_").parse().map_err(|known| {
                Fault::new(
                    Stage::Validate,
                    format!("plugin {plugin}: {word:?} is no visibility in a hook's when: {known}"),
                )
            })?;
            visibilities |= 1 << visibility_code(visibility);
        }
        Ok(Self { visibilities, local: when.local, reblog: when.reblog, reply: when.reply, media: when.media })
    }

    /// True when the plugin is to be asked about a status like this.
    #[must_use]
    pub fn admits(&self, status: &Traits) -> bool {
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

    const STATUS: Traits =
        Traits { visibility: Visibility::Public, local: true, reblog: false, reply: false, media: false };

    fn predicate(when: &When) -> Predicate {
        Predicate::new("x", when).unwrap()
    }

    #[test]
    fn nothing_said_is_anything() {
        assert!(Predicate::default().admits(&STATUS));
        assert!(Predicate::default().admits(&Traits { visibility: Visibility::Direct, reblog: true, ..STATUS }));
    }

    #[test]
    fn visibilities_are_written_with_either_dash() {
        let words = ["public-unlisted", "public_unlisted", "login"].map(str::to_owned).to_vec();
        let listed = predicate(&When { visibility: words, ..When::default() });
        assert!(listed.admits(&Traits { visibility: Visibility::PublicUnlisted, ..STATUS }));
        assert!(listed.admits(&Traits { visibility: Visibility::Login, ..STATUS }));
        assert!(!listed.admits(&STATUS));
        let unknown = When { visibility: vec!["everyone".to_owned()], ..When::default() };
        assert!(Predicate::new("x", &unknown).unwrap_err().sentence.contains("\"everyone\" is no visibility"));
    }

    #[test]
    fn every_condition_must_hold() {
        let when = When { local: Some(true), reblog: Some(false), media: Some(true), ..When::default() };
        let wanted = predicate(&when);
        assert!(wanted.admits(&Traits { media: true, ..STATUS }));
        assert!(!wanted.admits(&STATUS));
        assert!(!wanted.admits(&Traits { media: true, reblog: true, ..STATUS }));
        assert!(!wanted.admits(&Traits { media: true, local: false, ..STATUS }));
    }
}
