//! Members that extensions add to rendered entities, as JSON that is spliced in without serialising it again.

use serde_json::{Map, Value};

use crate::json::{Object, splice};

/// Members that extensions add to the entities of a response, by the index of the target.
#[derive(Debug, Default)]
pub struct Decorations {
    members: Vec<Members>,
    /// Every extension that had to be called responded: the result may be cached.
    pub complete: bool,
}

/// Members that extensions add to one entity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Members {
    /// Members of the entity itself, as JSON without braces.
    own: String,
    /// Members of nested objects: object, name, value.
    nested: Vec<(String, String, String)>,
}

impl Decorations {
    /// The members of each target, in order.
    #[must_use]
    pub fn new(members: Vec<Members>, complete: bool) -> Self {
        Self { members, complete }
    }

    /// The members added to the target at `index`; `None` when there are none.
    #[must_use]
    pub fn of(&self, index: usize) -> Option<&Members> {
        self.members.get(index).filter(|members| !members.is_empty())
    }

    /// The members added to each target; `None` when there are none.
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

    /// The approximate number of bytes added to an entity.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let nested = self.nested.iter().map(|(parent, name, json)| parent.len() + name.len() + json.len() + 16);
        self.own.len() + 1 + nested.sum::<usize>()
    }

    /// Adds the member `name` with the value `json` to the entity, or to its object `parent`.
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

    /// Adds the members to an entity that is being rendered.
    pub fn add_to(&self, object: &mut Object) {
        if !self.own.is_empty() {
            object.members(&self.own);
        }
        for (parent, name, json) in &self.nested {
            object.set(parent, name, json);
        }
    }

    /// The entity `json` with the members added.
    #[must_use]
    pub fn added_to(&self, json: &str) -> String {
        let mut entity = splice::append(json, &self.own);
        for (parent, name, value) in &self.nested {
            entity = splice::set(&entity, parent, name, value);
        }
        entity
    }
}
