//! The notification filter: plugins judge notifications before they are created; the strictest verdict wins.
//!
//! No transaction is open (docs/plugins.md#14-hooks, rule (a)): pending notifications wait in a table meanwhile. A
//! plugin that fails or times out has no objection.

use std::collections::BTreeMap;

use rookery_plugin_host::Part;
use rookery_plugin_host::exports::notification_filter::Draft;

use super::subscription::Subscription;
use crate::call::{Call, Caller, Mode};
use crate::cx::Session;
use crate::{Cx, Registry};
use async_trait::async_trait;
use context::Origin;
use context::extension::{JudgeNotifications, Judgement, Notice, NotificationTraits};
use context::messages::Language;
use model::AccountId;
use model::notification::NotificationKind;
use plugin_package::manifest::Moment;

#[async_trait]
impl JudgeNotifications for Session {
    fn notification_types(&self) -> Vec<String> {
        self.ask(|registry| registry.hooks.notification_names().map(str::to_owned).collect())
    }

    fn notification_type(&self, name: &str) -> Option<NotificationTraits> {
        self.ask(|registry| {
            let declared = registry.hooks.notification(name)?;
            let (groupable, filterable) = (declared.groupable, declared.filterable);
            Some(NotificationTraits { groupable, filterable, from_self: false })
        })
    }

    fn notification_title(&self, name: &str, language: Language) -> Option<String> {
        self.ask(|registry| {
            let titles = &registry.hooks.notification(name)?.titles;
            titles.get(language.code()).or_else(|| titles.get("en")).cloned()
        })
    }

    fn judges(&self, kind: &NotificationKind, origin: &Origin) -> bool {
        self.ask(|registry| judges(registry, kind, origin))
    }

    async fn judge(&self, cx: &context::Cx, notices: &[(Notice, Origin)]) -> Vec<Judgement> {
        match Cx::of(cx) {
            Ok(cx) => judge(&cx, notices).await,
            Err(_) => vec![Judgement::default(); notices.len()],
        }
    }
}

/// The verdict with the contract's code; an unknown code is no objection.
fn judgement(code: u8) -> Judgement {
    match code {
        1 => Judgement::Drop,
        2 => Judgement::Silent,
        _ => Judgement::Deliver,
    }
}

/// True when some plugin filters notifications of `kind` with this `origin`.
#[must_use]
pub fn judges(registry: &Registry, kind: &NotificationKind, origin: &Origin) -> bool {
    registry.hooks.at(Moment::NotificationFilter).iter().any(|hook| has_say(hook, kind, origin))
}

/// The verdict on each of `notices`, in order.
pub async fn judge(cx: &Cx, notices: &[(Notice, Origin)]) -> Vec<Judgement> {
    let registry = cx.registry();
    let mut judgements = vec![Judgement::default(); notices.len()];
    for hook in registry.hooks.at(Moment::NotificationFilter) {
        for (place, judgement) in call(cx, hook, notices).await {
            judgements[place] = judgements[place].max(judgement);
        }
    }
    judgements
}

async fn call(cx: &Cx, hook: &Subscription, notices: &[(Notice, Origin)]) -> BTreeMap<usize, Judgement> {
    let concerns = |(place, (notice, origin)): (usize, &(Notice, Origin))| {
        has_say(hook, &notice.kind, origin).then(|| (place, draft(notice)))
    };
    let (places, drafts): (Vec<usize>, Vec<Draft>) = notices.iter().enumerate().filter_map(concerns).unzip();
    if places.is_empty() {
        return BTreeMap::new();
    }
    // With several senders the failure is not attributed to one account.
    let author = drafts.first().map(|first| first.from).filter(|author| drafts.iter().all(|it| it.from == *author));
    let caller = Caller { author: author.map(AccountId::from), ..Caller::system() };
    let call = Call::new(cx, &hook.active, Part::Filters, caller, Mode::Read);
    let answer =
        hook.ask_alone(cx, author, async { hook.active.component.notification_filter(call, drafts).await }).await;
    let codes = answer.unwrap_or_default();
    places.into_iter().zip(codes.into_iter().map(judgement)).collect()
}

fn has_say(hook: &Subscription, kind: &NotificationKind, origin: &Origin) -> bool {
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
        assert!(judgement(1) > judgement(2));
        assert!(judgement(2) > judgement(0));
        assert_eq!(judgement(9), Judgement::Deliver);
    }
}
