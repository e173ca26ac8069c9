//! Asking plugins about notifications that are about to be made: the strictest of them wins.
//!
//! This is asked within the transaction that makes them, since who is to be told is only known there: that is why it has
//! so little time, and why a plugin that is late is passed over.

use std::collections::BTreeMap;

use rookery_plugin_host::exports::notification_filter::Draft;

use super::subscription::Subscription;
use crate::app::App;
use crate::plugins::call::{Call, Caller, Mode};
use crate::plugins::manifest::Moment;
use crate::plugins::origin::Origin;
use crate::store::notification::make::New;

/// What a plugin says of a notification; the later, the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// It is made as it is.
    #[default]
    Deliver,
    /// It is made, and nobody is told.
    Silent,
    /// It is not made.
    Drop,
}

impl Judgement {
    /// The contract's number; one that it does not have is no objection.
    fn of(code: u8) -> Self {
        match code {
            1 => Self::Drop,
            2 => Self::Silent,
            _ => Self::Deliver,
        }
    }
}

/// What plugins say of each of `new`, in order; nothing at all when nobody is asked.
pub async fn judge(app: &App, new: &[New]) -> Vec<Judgement> {
    let registry = app.plugins.current();
    let hooks = registry.hooks.at(Moment::NotificationFilter);
    if hooks.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let mut judgements = vec![Judgement::default(); new.len()];
    for hook in hooks.iter().filter(|hook| Origin::current().allows(hook.active.id)) {
        for (place, judgement) in ask(app, hook, new).await {
            judgements[place] = judgements[place].max(judgement);
        }
    }
    judgements
}

async fn ask(app: &App, hook: &Subscription, new: &[New]) -> BTreeMap<usize, Judgement> {
    let wanted: Vec<usize> =
        (0..new.len()).filter(|place| hook.kinds.is_empty() || hook.has_kind(new[*place].kind.as_str())).collect();
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let drafts: Vec<Draft> = wanted.iter().map(|place| draft(&new[*place])).collect();
    let call = Call::new(app, &hook.active, Caller::system(), Mode::Read);
    let answer = hook.ask_alone(app, async { hook.active.component.notification_filter(call, drafts).await }).await;
    let codes = answer.unwrap_or_default();
    wanted.into_iter().zip(codes.into_iter().map(Judgement::of)).collect()
}

fn draft(new: &New) -> Draft {
    Draft {
        to: new.receiver.into(),
        from: new.sender.into(),
        kind: new.kind.to_string(),
        status: new.status.map(i64::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_is_stricter_than_silence() {
        assert!(Judgement::of(1) > Judgement::of(2));
        assert!(Judgement::of(2) > Judgement::of(0));
        assert_eq!(Judgement::of(9), Judgement::Deliver);
    }
}
