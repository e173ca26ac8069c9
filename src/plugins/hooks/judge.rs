//! Asking plugins about notifications that are about to be made: the strictest of them wins.
//!
//! No transaction is open (`PLUGINS.md` section 1.4, rule (a)): notices wait in a table meanwhile. A plugin that is late or
//! fails has no objection.

use std::collections::BTreeMap;

use rookery_plugin_host::exports::notification_filter::Draft;

use super::subscription::Subscription;
use crate::app::App;
use crate::plugins::call::{Call, Caller, Mode};
use crate::plugins::manifest::Moment;
use crate::plugins::origin::Origin;
use crate::service::notification::Notice;
use model::notification::Kind;

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

/// True when some plugin has a say in notifications of `kind` that come from where this one does.
#[must_use]
pub fn is_judged(app: &App, kind: &Kind) -> bool {
    let origin = Origin::current();
    let registry = app.plugins.current();
    registry.hooks.at(Moment::NotificationFilter).iter().any(|hook| has_say(hook, kind, &origin))
}

/// What plugins say of each of `notices`, in order.
pub async fn judge(app: &App, notices: &[(Notice, Origin)]) -> Vec<Judgement> {
    let registry = app.plugins.current();
    let mut judgements = vec![Judgement::default(); notices.len()];
    for hook in registry.hooks.at(Moment::NotificationFilter) {
        for (place, judgement) in ask(app, hook, notices).await {
            judgements[place] = judgements[place].max(judgement);
        }
    }
    judgements
}

async fn ask(app: &App, hook: &Subscription, notices: &[(Notice, Origin)]) -> BTreeMap<usize, Judgement> {
    let concerns = |(place, (notice, origin)): (usize, &(Notice, Origin))| {
        has_say(hook, &notice.kind, origin).then(|| (place, draft(notice)))
    };
    let (places, drafts): (Vec<usize>, Vec<Draft>) = notices.iter().enumerate().filter_map(concerns).unzip();
    if places.is_empty() {
        return BTreeMap::new();
    }
    let call = Call::new(app, &hook.active, Caller::system(), Mode::Read);
    let answer = hook.ask_alone(app, async { hook.active.component.notification_filter(call, drafts).await }).await;
    let codes = answer.unwrap_or_default();
    places.into_iter().zip(codes.into_iter().map(Judgement::of)).collect()
}

fn has_say(hook: &Subscription, kind: &Kind, origin: &Origin) -> bool {
    (hook.kinds.is_empty() || hook.has_kind(kind.as_str())) && origin.allows(hook.active.id)
}

fn draft(notice: &Notice) -> Draft {
    Draft {
        to: notice.receiver.into(),
        from: notice.from.into(),
        kind: notice.kind.to_string(),
        status: notice.status.map(i64::from),
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
