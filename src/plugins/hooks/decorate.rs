//! Members that plugins add to entities while an answer is rendered: one call of each plugin for each kind of entity in
//! an answer, all of them at once.
//!
//! What a plugin says is kept as it is written, once it was seen to be JSON of bounded size: nothing is serialised again.

use std::sync::Arc;

use futures_util::future::join_all;
use rookery_plugin_host::CallError;
use rookery_plugin_host::exports::decorate::Extra;
pub use rookery_plugin_host::exports::decorate::Target;

use super::budget;
use super::field::{Field, is_value};
use super::subscription::Subscription;
use crate::app::App;
use crate::entity::{Object, splice};
use crate::error::{Error, Result};
use crate::model::Actor;
use crate::plugins::call::{Call, Caller, Mode};
use crate::plugins::manifest::Policy;
use crate::plugins::origin::Origin;

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
        self.members.get(index).filter(|members| !members.own.is_empty() || !members.nested.is_empty())
    }
}

impl Members {
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

/// What plugins add to `targets`, which are of `kind`, for `viewer`.
///
/// # Errors
/// [`Error::Plugin`] when a plugin gives no answer whose manifest says that there is none then.
pub async fn decorate(app: &App, viewer: Option<&Actor>, kind: &str, targets: Vec<Target>) -> Result<Decorations> {
    if targets.is_empty() || !is_decorated(app, kind) {
        return Ok(Decorations::default());
    }
    let registry = app.plugins.current();
    let viewer = viewer.map(|actor| Arc::new(actor.clone()));
    let count = targets.len();
    let asked = registry.hooks.decorators(kind).map(|hook| {
        let asked = ask(app, hook, viewer.clone(), kind, targets.clone());
        async move { (hook, asked.await) }
    });
    let mut members = vec![Members::default(); count];
    let mut complete = true;
    for (hook, extras) in budget::spend(join_all(asked)).await {
        complete &= matches!(extras, Ok(Some(_)));
        let extras = match (extras, hook.policy) {
            (Ok(extras), _) => extras.unwrap_or_default(),
            (Err(error), Policy::Fail) => return Err(Error::no_answer(hook.active.name(), error.ended, None)),
            (Err(_), _) => Vec::new(),
        };
        merge(&mut members, hook, &extras);
    }
    Ok(Decorations { members, complete })
}

/// What a plugin adds; none when it is this plugin that has the entity rendered, and knows what it adds.
async fn ask(
    app: &App,
    hook: &Subscription,
    viewer: Option<Arc<Actor>>,
    kind: &str,
    targets: Vec<Target>,
) -> Result<Option<Vec<Extra>>, CallError> {
    if !Origin::current().allows(hook.active.id) {
        return Ok(None);
    }
    let id = viewer.as_ref().map(|actor| actor.id.into());
    let caller = Caller { actor: viewer, ..Caller::system() };
    let call = Call::new(app, &hook.active, caller, Mode::Read);
    hook.ask(app, async { hook.active.component.decorate(call, id, kind, targets).await }).await.map(Some)
}

/// Puts what a plugin said, and its defaults where it said nothing, with what others said.
fn merge(members: &mut [Members], hook: &Subscription, extras: &[Extra]) {
    let mut said: Vec<Vec<Option<&str>>> = vec![vec![None; hook.fields.len()]; members.len()];
    for extra in extras {
        let Some(said) = usize::try_from(extra.index).ok().and_then(|index| said.get_mut(index)) else { continue };
        for (name, json) in &extra.fields {
            let place = hook.fields.iter().position(|field| field.name == *name);
            if let Some(place) = place.filter(|_| is_value(json)) {
                said[place] = Some(json);
            }
        }
    }
    for (members, said) in members.iter_mut().zip(said) {
        for (field, json) in hook.fields.iter().zip(said) {
            if let Some(json) = json.or(field.default.as_deref()) {
                members.add(field, json);
            }
        }
    }
}
