//! The changes of a list: new blocks and changed ones. A list never weakens a block, unless it replaces it.

use std::collections::HashMap;

use super::parse::Entry;
use crate::domain_decision::BlockParams;
use context::Cx;
use model::Time;
use model::domain_list::ImportMode;
use model::domain_policy::covering;
use store::domain_policy::Block;

/// The changes of a list.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) added: Vec<Block>,
    pub(super) changed: Vec<Block>,
    /// How many entries change nothing.
    pub(super) unchanged: usize,
}

/// The changes that `entries` make to the blocks `existing`, by domain.
pub(super) fn plan(cx: &Cx, entries: Vec<Entry>, existing: &HashMap<String, Block>, mode: ImportMode) -> Plan {
    let now = cx.clock.now();
    let mut plan = Plan::default();
    for Entry { domain, block } in entries {
        match existing.get(&domain) {
            Some(old) => match changed(old, block, mode) {
                Some(block) => plan.changed.push(block),
                None => plan.unchanged += 1,
            },
            None => match new(&domain, block, existing, mode) {
                Some(block) => plan.added.push(stored(cx.ids.next(), domain, now, block)),
                None => plan.unchanged += 1,
            },
        }
    }
    plan
}

/// The block of `domain` with the parameters `block`.
pub(super) fn stored(id: model::RowId, domain: String, created_at: Time, block: BlockParams) -> Block {
    Block {
        id,
        domain,
        severity: block.severity,
        flags: block.flags,
        obfuscate: block.obfuscate,
        hidden: block.hidden,
        private_comment: block.private_comment,
        public_comment: block.public_comment,
        created_at,
    }
}

/// The block `old` with the parameters of the list; `None` when nothing changes. Comments stay where the list has none.
fn changed(old: &Block, listed: BlockParams, mode: ImportMode) -> Option<Block> {
    let mut new = match mode {
        ImportMode::Merge => Block {
            severity: old.severity.max(listed.severity),
            flags: old.flags.union(listed.flags),
            obfuscate: old.obfuscate || listed.obfuscate,
            hidden: old.hidden || listed.hidden,
            private_comment: old.private_comment.clone().or(listed.private_comment),
            public_comment: old.public_comment.clone().or(listed.public_comment),
            ..old.clone()
        },
        ImportMode::Replace => stored(old.id, old.domain.clone(), old.created_at, listed),
    };
    new.private_comment = new.private_comment.or_else(|| old.private_comment.clone());
    new.public_comment = new.public_comment.or_else(|| old.public_comment.clone());
    (new != *old).then_some(new)
}

/// The parameters of a new block. The most specific block wins, so one below a stricter block takes its severity and
/// flags; `None` when it then adds nothing.
fn new(domain: &str, listed: BlockParams, existing: &HashMap<String, Block>, mode: ImportMode) -> Option<BlockParams> {
    below(covering(domain).skip(1).find_map(|domain| existing.get(domain)), listed, mode)
}

/// As [`new`], where `above` is the closest block above the domain.
pub(super) fn below(above: Option<&Block>, mut listed: BlockParams, mode: ImportMode) -> Option<BlockParams> {
    if let (Some(above), ImportMode::Merge) = (above, mode) {
        listed.severity = listed.severity.max(above.severity);
        listed.flags = listed.flags.union(above.flags);
        if (listed.severity, listed.flags) == (above.severity, above.flags) {
            return None;
        }
    }
    Some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::RowId;
    use model::domain_policy::Flags;
    use model::instance::Severity::{self, Noop, Silence, Suspend};

    const MEDIA: Flags = Flags { reject_media: true, ..Flags::NONE };
    const REPORTS: Flags = Flags { reject_reports: true, ..Flags::NONE };

    fn block(severity: Severity, flags: Flags) -> Block {
        let params = BlockParams { flags, private_comment: Some("why".to_owned()), ..BlockParams::new(severity) };
        stored(RowId::from(1), "evil.test".to_owned(), Time::from_micros(0), params)
    }

    #[test]
    fn merged_list_never_weakens_a_block() {
        let old = block(Silence, MEDIA);
        let merge = |severity, flags| {
            let new = changed(&old, BlockParams { flags, ..BlockParams::new(severity) }, ImportMode::Merge)?;
            assert_eq!(new.private_comment.as_deref(), Some("why"));
            Some((new.severity, new.flags.names()))
        };
        assert_eq!(merge(Suspend, Flags::NONE), Some((Suspend, vec!["reject_media"])));
        assert_eq!(merge(Noop, REPORTS), Some((Silence, vec!["reject_media", "reject_reports"])));
        assert_eq!(merge(Noop, Flags::NONE), None);
        let replaced = changed(&old, BlockParams::new(Noop), ImportMode::Replace).expect("another block");
        assert_eq!((replaced.severity, replaced.flags), (Noop, Flags::NONE));
        assert_eq!(replaced.private_comment.as_deref(), Some("why"), "the list has no comment");
    }

    #[test]
    fn merged_subdomain_is_as_strict_as_the_block_above() {
        let existing = HashMap::from([("evil.test".to_owned(), block(Silence, MEDIA))]);
        let add = |severity, flags, mode| {
            let listed = BlockParams { flags, ..BlockParams::new(severity) };
            new("a.b.evil.test", listed, &existing, mode).map(|block| (block.severity, block.flags.names()))
        };
        assert_eq!(add(Noop, Flags::NONE, ImportMode::Merge), None);
        assert_eq!(add(Suspend, Flags::NONE, ImportMode::Merge), Some((Suspend, vec!["reject_media"])));
        assert_eq!(add(Noop, REPORTS, ImportMode::Merge), Some((Silence, vec!["reject_media", "reject_reports"])));
        assert_eq!(add(Noop, Flags::NONE, ImportMode::Replace), Some((Noop, vec![])));
    }
}
