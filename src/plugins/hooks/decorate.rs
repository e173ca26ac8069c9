//! Members that plugins add to entities while an answer is rendered: one call of each plugin for each kind of entity in
//! an answer, all of them at once.
//!
//! What a plugin says is passed on as it is written, once it was seen to be JSON of bounded size: nothing is serialised again.

use std::sync::Arc;

use futures_util::future::join_all;
use rookery_plugin_host::CallError;
use rookery_plugin_host::exports::decorate::Extra;
pub use rookery_plugin_host::exports::decorate::Target;
use tokio::time::Instant;

use super::budget;
use super::field::{Field, is_value};
use super::kept::{Key, Said, Versions};
use super::subscription::Subscription;
use crate::app::App;
use crate::entity::{Object, splice};
use crate::error::Result;
use crate::plugins::call::{Call, Caller, Mode};
use crate::plugins::error::no_answer;
use crate::plugins::manifest::Policy;
use crate::plugins::origin::Origin;
use model::Actor;

/// What plugins add to the entities of an answer, by their place among the targets.
#[derive(Debug, Default)]
pub struct Decorations {
    members: Vec<Members>,
    /// Every plugin that was to be asked answered: it may be kept.
    pub complete: bool,
}

/// What plugins add to one entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// Members of the entity itself, as JSON without braces.
    own: String,
    /// Members of objects in it: object, name, value.
    nested: Vec<(String, String, String)>,
}

impl Decorations {
    /// What is added to the target at `index`; none when nothing is.
    #[must_use]
    pub fn of(&self, index: usize) -> Option<&Members> {
        self.members.get(index).filter(|members| !members.is_empty())
    }

    /// What is added to each target; none when nothing is.
    pub fn into_members(self) -> impl Iterator<Item = Option<Members>> {
        self.members.into_iter().map(|members| (!members.is_empty()).then_some(members))
    }
}

impl Members {
    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.nested.is_empty()
    }

    fn add(&mut self, field: &Field, json: &str) {
        match field.path() {
            (None, name) => {
                if !self.own.is_empty() {
                    self.own.push(',');
                }
                self.own.push('"');
                self.own.push_str(name);
                self.own.push_str("\":");
                self.own.push_str(json);
            }
            (Some(parent), name) => self.nested.push((parent.to_owned(), name.to_owned(), json.to_owned())),
        }
    }

    /// Adds them to an entity that is being put together.
    pub fn add_to(&self, object: &mut Object) {
        if !self.own.is_empty() {
            object.members(&self.own);
        }
        for (parent, name, json) in &self.nested {
            object.set(parent, name, json);
        }
    }

    /// The entity `json` with them.
    #[must_use]
    pub fn added_to(&self, json: &str) -> String {
        let mut entity = splice::append(json, &self.own);
        for (parent, name, value) in &self.nested {
            entity = splice::set(&entity, parent, name, value);
        }
        entity
    }
}

/// True when some plugin adds to entities of `kind`.
#[must_use]
pub fn is_decorated(app: &App, kind: &str) -> bool {
    let registry = app.plugins.current();
    !registry.plugins.is_empty() && registry.hooks.decorators(kind).next().is_some()
}

/// What plugins add to `targets`, which are of `kind`, for `viewer`. With `versions`, one for each target, what was said of
/// it may be said again.
///
/// # Errors
/// [`Error::Plugin`] when a plugin gives no answer whose manifest says that there is none then.
pub async fn decorate(
    app: &App,
    viewer: Option<&Actor>,
    kind: &str,
    targets: Vec<Target>,
    versions: &[Versions],
) -> Result<Decorations> {
    if targets.is_empty() || !is_decorated(app, kind) {
        return Ok(Decorations::default());
    }
    let registry = app.plugins.current();
    let asking = Asking { app, viewer, kind, targets: &targets, versions };
    let asking = &asking;
    let asked = registry.hooks.decorators(kind).map(|hook| async move { (hook, asking.ask(hook).await) });
    let mut members = vec![Members::default(); targets.len()];
    let mut complete = true;
    for (hook, said) in budget::spend(join_all(asked)).await {
        let said = match (said, hook.policy) {
            (Ok(said), _) => said,
            (Err(error), Policy::Fail) => return Err(no_answer(hook.active.name(), error.ended, None)),
            (Err(_), _) => Answer::default(),
        };
        complete &= said.complete;
        merge(&mut members, hook, &said.said);
    }
    Ok(Decorations { members, complete })
}

/// What one plugin said of each.
#[derive(Default)]
struct Answer {
    said: Vec<Said>,
    /// It said it of all of them.
    complete: bool,
}

/// What every plugin is asked.
struct Asking<'a> {
    app: &'a App,
    viewer: Option<&'a Actor>,
    kind: &'a str,
    targets: &'a [Target],
    versions: &'a [Versions],
}

impl Asking<'_> {
    /// What a plugin adds to each; nothing when it is this plugin that has the entity rendered, and knows what it adds.
    async fn ask(&self, hook: &Subscription) -> Result<Answer, CallError> {
        if !Origin::current().allows(hook.active.id) {
            return Ok(Answer::default());
        }
        if !hook.keeps || self.versions.is_empty() {
            let said = self.call(hook, self.targets.to_vec()).await?;
            return Ok(Answer { said, complete: true });
        }
        let (kept, emojis) = (&self.app.plugins.kept, self.app.emojis().generation);
        let key = |(target, versions): (&Target, &Versions)| Key::new(hook, emojis, self.viewer, target, *versions);
        let keys: Vec<Key> = self.targets.iter().zip(self.versions).map(key).collect();
        let now = Instant::now();
        let mut said: Vec<Option<Said>> = keys.iter().map(|key| kept.get(key, now)).collect();
        let missing: Vec<usize> = (0..keys.len()).filter(|place| said[*place].is_none()).collect();
        let mut complete = true;
        if !missing.is_empty() {
            let targets = missing.iter().map(|place| self.targets[*place].clone()).collect();
            let fresh = match (self.call(hook, targets).await, hook.policy) {
                (Err(error), Policy::Fail) => return Err(error),
                (fresh, _) => fresh.inspect_err(|_| complete = false).unwrap_or_default(),
            };
            for (place, fresh) in missing.into_iter().zip(fresh) {
                kept.insert(keys[place], Arc::clone(&fresh), now);
                said[place] = Some(fresh);
            }
        }
        Ok(Answer { said: said.into_iter().map(Option::unwrap_or_default).collect(), complete })
    }

    async fn call(&self, hook: &Subscription, targets: Vec<Target>) -> Result<Vec<Said>, CallError> {
        let (id, count) = (self.viewer.map(|actor| actor.id.into()), targets.len());
        let caller = Caller { actor: self.viewer.map(|actor| Arc::new(actor.clone())), ..Caller::system() };
        let call = Call::new(self.app, &hook.active, caller, Mode::Read);
        let asked = async { hook.active.component.decorate(call, id, self.kind, targets).await };
        Ok(sort(hook, hook.ask(self.app, asked).await?, count))
    }
}

/// What a plugin said, by target and field; what it did not declare is left out, and so is what is no value.
fn sort(hook: &Subscription, extras: Vec<Extra>, count: usize) -> Vec<Said> {
    let mut said: Vec<Vec<Option<Box<str>>>> = vec![Vec::new(); count];
    for extra in extras {
        let Some(said) = usize::try_from(extra.index).ok().and_then(|index| said.get_mut(index)) else { continue };
        said.resize(hook.fields.len(), None);
        for (name, json) in extra.fields {
            let place = hook.fields.iter().position(|field| field.name == name);
            if let Some(place) = place.filter(|_| is_value(&json)) {
                said[place] = Some(json.into());
            }
        }
    }
    said.into_iter().map(|said| if said.is_empty() { Said::default() } else { said.into() }).collect()
}

/// Puts what a plugin said, and its defaults where it said nothing, with what others said.
fn merge(members: &mut [Members], hook: &Subscription, said: &[Said]) {
    for (index, members) in members.iter_mut().enumerate() {
        for (place, field) in hook.fields.iter().enumerate() {
            let json = said.get(index).and_then(|said| said.get(place)?.as_deref());
            if let Some(json) = json.or(field.default.as_deref()) {
                members.add(field, json);
            }
        }
    }
}
