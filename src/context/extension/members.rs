//! Members that extensions add to rendered entities, as JSON that is spliced in and never serialised again.

use serde_json::{Map, Value};

use crate::json::{Object, splice};

/// What extensions add to the entities of an answer, by their place among the targets.
#[derive(Debug, Default)]
pub struct Decorations {
    members: Vec<Members>,
    /// Every extension that was to be asked answered: the result may be cached.
    pub complete: bool,
}

/// What extensions add to one entity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Members {
    /// Members of the entity itself, as JSON without braces.
    own: String,
    /// Members of objects in it: object, name, value.
    nested: Vec<(String, String, String)>,
}

impl Decorations {
    /// The members of each target, in order.
    #[must_use]
    pub fn new(members: Vec<Members>, complete: bool) -> Self {
        Self { members, complete }
    }

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

    /// The value of the entity's own member `name`, if it is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        let members: Map<String, Value> = serde_json::from_str(&format!("{{{}}}", self.own)).ok()?;
        members.get(name)?.as_f64()
    }

    /// About how many bytes they add to an entity.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let nested = self.nested.iter().map(|(parent, name, json)| parent.len() + name.len() + json.len() + 16);
        self.own.len() + 1 + nested.sum::<usize>()
    }

    /// Adds the member `name`, of the entity itself or of its object `parent`, with the value `json`.
    pub fn add(&mut self, parent: Option<&str>, name: &str, json: &str) {
        match parent {
            None => {
                if !self.own.is_empty() {
                    self.own.push(',');
                }
                self.own.push('"');
                self.own.push_str(name);
                self.own.push_str("\":");
                self.own.push_str(json);
            }
            Some(parent) => self.nested.push((parent.to_owned(), name.to_owned(), json.to_owned())),
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
