//! Decoration: members that plugins add to entities while a response is rendered. Each plugin is called once for each
//! kind of entity in a response; the plugins are called concurrently.
//!
//! Values are validated as JSON of bounded size and then spliced in verbatim: nothing is serialised again.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::join_all;
use rookery_plugin_host::exports::decorate::Extra;
use rookery_plugin_host::exports::decorate::Target as TargetRecord;
use rookery_plugin_host::{CallError, Part};
use tokio::time::Instant;

use super::decoration_cache::{Fields, Key};
use super::field::is_value;
use super::subscription::Subscription;
use crate::Cx;
use crate::call::{Call, Caller, Mode};
use crate::cx::Session;
use async_trait::async_trait;
use context::extension::{Decorate, Decorations, Entity, Members, Target, Versions};
use model::Actor;
use plugin_package::manifest::Keep;

#[async_trait]
impl Decorate for Session {
    fn decorates(&self, kind: Entity) -> bool {
        self.ask(|registry| registry.hooks.decorators(kind.as_str()).next().is_some())
    }

    async fn decorate(
        &self,
        cx: &context::Cx,
        viewer: Option<&Actor>,
        kind: Entity,
        targets: Vec<Target>,
        versions: &[Versions],
    ) -> Decorations {
        match Cx::of(cx) {
            Ok(cx) => decorate(&cx, viewer, kind.as_str(), targets, versions).await,
            Err(_) => Decorations::default(),
        }
    }
}

/// What plugins add to `targets`, entities of `kind`, for `viewer`. With `versions`, one for each target, results may
/// be cached. A plugin that does not answer adds its defaults.
pub async fn decorate(
    cx: &Cx,
    viewer: Option<&Actor>,
    kind: &str,
    targets: Vec<Target>,
    versions: &[Versions],
) -> Decorations {
    let registry = cx.registry();
    if targets.is_empty() || registry.hooks.decorators(kind).next().is_none() {
        return Decorations::default();
    }
    let asking = Decoration { cx, viewer, kind, targets: &targets, versions };
    let asking = &asking;
    let asked = registry.hooks.decorators(kind).map(|hook| async move { (hook, asking.ask(hook).await) });
    let mut members = vec![Members::default(); targets.len()];
    let mut complete = true;
    for (hook, answer) in cx.spend_hook_time(join_all(asked)).await {
        complete &= answer.complete;
        merge(&mut members, hook, &answer.added);
    }
    Decorations::new(members, complete)
}

/// The members that one plugin adds to each target, from the cache or a call.
#[derive(Default)]
struct Decorated {
    added: Vec<Fields>,
    /// The plugin answered for every target.
    complete: bool,
}

/// The arguments of every plugin's call.
struct Decoration<'a> {
    cx: &'a Cx,
    viewer: Option<&'a Actor>,
    kind: &'a str,
    targets: &'a [Target],
    versions: &'a [Versions],
}

impl Decoration<'_> {
    /// The members that one plugin adds to each target; none where the call fails.
    async fn ask(&self, hook: &Subscription) -> Decorated {
        let Some(keep) = hook.keep.filter(|_| !self.versions.is_empty()) else {
            return self.ask_anew(hook).await;
        };
        let (cache, emojis) = (&self.cx.plugins.decorations, self.cx.emojis().generation);
        let key = |(target, versions): (&Target, &Versions)| match keep {
            Keep::Touched if versions.status == store::status::UNCHANGED => Key::of_untouched(hook, self.viewer),
            _ => Key::new(hook, emojis, self.viewer, target, *versions),
        };
        let keys: Vec<Key> = self.targets.iter().zip(self.versions).map(key).collect();
        let now = Instant::now();
        let mut added: Vec<Option<Fields>> = keys.iter().map(|key| cache.get(key, now)).collect();
        // One of several targets with the same decoration.
        let mut missing: Vec<usize> = (0..keys.len()).filter(|place| added[*place].is_none()).collect();
        let mut asked = HashSet::new();
        missing.retain(|place| asked.insert(keys[*place]));
        let mut complete = true;
        if !missing.is_empty() {
            let targets = missing.iter().map(|place| self.targets[*place].clone()).collect();
            let fresh = self.call(hook, targets).await.inspect_err(|_| complete = false).unwrap_or_default();
            for (place, fresh) in missing.into_iter().zip(fresh) {
                cache.insert(keys[place], Arc::clone(&fresh), now);
                for (added, _) in
                    added.iter_mut().zip(&keys).filter(|(added, key)| added.is_none() && **key == keys[place])
                {
                    *added = Some(Arc::clone(&fresh));
                }
            }
        }
        Decorated { added: added.into_iter().map(Option::unwrap_or_default).collect(), complete }
    }

    /// The members that one plugin adds to the targets of the types that it decorates: no call without such a target.
    async fn ask_anew(&self, hook: &Subscription) -> Decorated {
        let wanted = self.targets.iter().enumerate().filter(|(_, target)| hook.has_type(&target.code));
        let (places, targets): (Vec<usize>, Vec<Target>) =
            wanted.map(|(place, target)| (place, target.clone())).unzip();
        if targets.is_empty() {
            return Decorated { added: Vec::new(), complete: true };
        }
        let Ok(fresh) = self.call(hook, targets).await else { return Decorated::default() };
        let mut added = vec![Fields::default(); self.targets.len()];
        for (place, fresh) in places.into_iter().zip(fresh) {
            added[place] = fresh;
        }
        Decorated { added, complete: true }
    }

    async fn call(&self, hook: &Subscription, targets: Vec<Target>) -> Result<Vec<Fields>, CallError> {
        let (id, count) = (self.viewer.map(|actor| actor.id.into()), targets.len());
        let caller = Caller { actor: self.viewer.map(|actor| Arc::new(actor.clone())), ..Caller::system() };
        let records = targets.into_iter().map(record).collect();
        let call = Call::new(self.cx, &hook.active, Part::Decorations, caller, Mode::Read);
        let asked = async { hook.active.component.decorate(call, id, self.kind, records).await };
        Ok(sort(hook, hook.ask(self.cx, Some(id.unwrap_or(0)), asked).await?, count))
    }
}

fn record(target: Target) -> TargetRecord {
    let Target { id, owner, subject, activity, code } = target;
    TargetRecord { id, owner, subject, activity, code }
}

/// The plugin's answer by target and field, without undeclared fields and invalid values.
fn sort(hook: &Subscription, extras: Vec<Extra>, count: usize) -> Vec<Fields> {
    let mut added: Vec<Vec<Option<Box<str>>>> = vec![Vec::new(); count];
    for extra in extras {
        let Some(added) = usize::try_from(extra.index).ok().and_then(|index| added.get_mut(index)) else { continue };
        added.resize(hook.fields.len(), None);
        for (name, json) in extra.fields {
            let place = hook.fields.iter().position(|field| field.name == name);
            if let Some(place) = place.filter(|_| is_value(&json)) {
                added[place] = Some(json.into());
            }
        }
    }
    added.into_iter().map(|added| if added.is_empty() { Fields::default() } else { added.into() }).collect()
}

/// Merges the plugin's members, and its defaults for missing ones, into the members of all plugins.
fn merge(members: &mut [Members], hook: &Subscription, added: &[Fields]) {
    for (index, members) in members.iter_mut().enumerate() {
        for (place, field) in hook.fields.iter().enumerate() {
            let json = added.get(index).and_then(|added| added.get(place)?.as_deref());
            if let Some(json) = json.or(field.default.as_deref()) {
                let (parent, name) = field.path();
                members.add(parent, name, json);
            }
        }
    }
}
