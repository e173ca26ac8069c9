//! The stored form of the parameters that a list has for a domain.

use serde::{Deserialize, Serialize};

use crate::domain_decision::BlockParams;
use context::error::{Error, Result};
use model::domain_policy::Flags;
use model::instance::Severity;

/// The parameters of a block, as JSON with a fixed order of members: equal parameters are equal texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    pub severity: Severity,
    /// The names of the flags that are set.
    pub flags: Vec<String>,
    pub obfuscate: bool,
    pub hidden: bool,
    pub public_comment: Option<String>,
    pub private_comment: Option<String>,
}

impl Listed {
    /// Parses a stored text.
    ///
    /// # Errors
    /// [`Error::Internal`] for any other text.
    pub fn read(stored: &str) -> Result<Self> {
        serde_json::from_str(stored).map_err(Error::internal)
    }
}

/// The stored form of `block`.
pub(super) fn write(block: BlockParams) -> Result<String> {
    let listed = Listed {
        severity: block.severity,
        flags: block.flags.names().into_iter().map(str::to_owned).collect(),
        obfuscate: block.obfuscate,
        hidden: block.hidden,
        public_comment: block.public_comment,
        private_comment: block.private_comment,
    };
    serde_json::to_string(&listed).map_err(Error::internal)
}

/// The block of a stored text. A flag that this version does not know is left out.
pub(super) fn read(stored: &str) -> Result<BlockParams> {
    let listed = Listed::read(stored)?;
    let mut flags = Flags::NONE;
    for name in &listed.flags {
        if let Some(flag) = flags.named(name) {
            *flag = true;
        }
    }
    Ok(BlockParams {
        severity: listed.severity,
        flags,
        obfuscate: listed.obfuscate,
        hidden: listed.hidden,
        private_comment: listed.private_comment,
        public_comment: listed.public_comment,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_parameters_are_read_again() {
        let mut block = BlockParams::new(Severity::Silence);
        block.flags = Flags { reject_media: true, block_trends: true, ..Flags::NONE };
        block.public_comment = Some("why".to_owned());
        let stored = write(block.clone()).expect("a text");
        let read = read(&stored).expect("a block");
        assert_eq!(
            (read.severity, read.flags, &read.public_comment),
            (block.severity, block.flags, &block.public_comment)
        );
        assert_eq!(write(read).expect("a text"), stored);
        assert!(Listed::read("{}").is_err());
    }
}
