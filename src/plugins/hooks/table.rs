//! The table of hooks of all plugins, built once for each registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rookery_plugin_host::{LoadError, Stage};

use super::field::Field;

use super::predicate::Predicate;
use super::subscription::Subscription;
use crate::{Absent, Active, PluginId, Quota};
use model::{NotificationType, Visibility};
use plugin_package::manifest::{Hook, Manifest, Moment, NotificationKind};

/// Objects of core entities to which plugins may add members.
const OPEN: [&str; 2] = ["other_settings", "server_features"];

/// The stream of events.
pub(crate) const EVENTS: &str = "events";
/// The stream of statuses for which plugins choose feeds.
pub(crate) const FANOUT: &str = "fanout";

/// All hooks of all active plugins, and the event subscriptions of absent ones.
#[derive(Debug, Default)]
pub struct Hooks {
    moments: BTreeMap<Moment, Vec<Arc<Subscription>>>,
    notifications: BTreeMap<String, NotificationKind>,
    listeners: Vec<Listener>,
}

/// A subscription to the outbox, of an active plugin or of an absent one for which events are kept.
#[derive(Debug)]
pub struct Listener {
    pub plugin: PluginId,
    /// [`EVENTS`] or [`FANOUT`].
    pub stream: &'static str,
    /// Which statuses it is for.
    pub when: Predicate,
    kinds: Vec<String>,
    /// The plugin's quota of events.
    kept: Quota,
}

impl Listener {
    /// The listeners of the plugin with the id `plugin`, whose events are `kept` up to a quota.
    fn of(plugin: PluginId, manifest: &Manifest, kept: &Quota) -> Result<Vec<Self>, LoadError> {
        let mut listeners = Vec::new();
        for hook in &manifest.hooks {
            let stream = match hook.on {
                Moment::Events => EVENTS,
                Moment::Fanout => FANOUT,
                _ => continue,
            };
            let when = Predicate::new(&manifest.plugin.name, &hook.when)?;
            listeners.push(Self { plugin, stream, when, kinds: hook.kinds.clone(), kept: kept.clone() });
        }
        Ok(listeners)
    }

    /// True when it subscribes to `kind`.
    #[must_use]
    pub fn has_kind(&self, kind: &str) -> bool {
        self.kinds.iter().any(|known| known == kind)
    }

    /// Charges an event to the plugin's quota; false when it is exhausted, and the event is not kept.
    pub(super) fn keeps_one(&self) -> bool {
        self.kept.add(1)
    }
}

impl Hooks {
    /// The hooks of `plugins`, and the event subscriptions of `absent`.
    ///
    /// # Errors
    /// At [`Stage::Conflict`] when two plugins claim the same name; at [`Stage::Validate`] for an invalid hook.
    pub fn build(plugins: &[Arc<Active>], absent: &[Absent]) -> Result<Self, LoadError> {
        plugins.iter().try_for_each(|active| super::named_check::check(active, plugins))?;
        let manifests: Vec<&Manifest> = plugins.iter().map(|active| &active.manifest).collect();
        let notifications = notifications(&manifests)?;
        let mut moments = BTreeMap::new();
        for (moment, hooks) in plan(&manifests)? {
            let subscribe = |(plugin, hook): (usize, usize)| {
                Subscription::new(&plugins[plugin], &plugins[plugin].manifest.hooks[hook]).map(Arc::new)
            };
            moments.insert(moment, hooks.into_iter().map(subscribe).collect::<Result<Vec<_>, _>>()?);
        }
        let here = plugins.iter().map(|active| Listener::of(active.id, &active.manifest, &active.quotas.events));
        let kept = absent.iter().map(|absent| Listener::of(absent.id, &absent.manifest, &absent.events));
        let listeners = here.chain(kept).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        Ok(Self { moments, notifications, listeners })
    }

    /// The subscriptions to the outbox.
    #[must_use]
    pub fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    /// The hooks of `moment`, in order.
    #[must_use]
    pub fn at(&self, moment: Moment) -> &[Arc<Subscription>] {
        self.moments.get(&moment).map_or(&[], Vec::as_slice)
    }

    /// Names of the plugins called at `moment`, in order: what `rookery plugin order` prints.
    #[must_use]
    pub fn order(&self, moment: Moment) -> Vec<&str> {
        self.at(moment).iter().map(|hook| hook.active.name()).collect()
    }

    /// The hooks that decorate entities of `kind`.
    pub fn decorators(&self, kind: &str) -> impl Iterator<Item = &Arc<Subscription>> {
        self.at(Moment::Decorate).iter().filter(move |hook| hook.has_kind(kind))
    }

    /// The hook that handles activities of the type `kind`.
    #[must_use]
    pub fn activity_handler(&self, kind: &str) -> Option<&Arc<Subscription>> {
        self.at(Moment::ActivityHandler).iter().find(|hook| hook.has_kind(kind))
    }

    /// The streams of all plugins.
    pub fn channels(&self) -> impl Iterator<Item = &str> {
        self.at(Moment::Channels).iter().flat_map(|hook| hook.kinds.iter().map(String::as_str))
    }

    /// The hook that owns the stream `channel`.
    #[must_use]
    pub fn channel(&self, channel: &str) -> Option<&Arc<Subscription>> {
        self.at(Moment::Channels).iter().find(|hook| hook.has_kind(channel))
    }

    /// The plugin's hooks at `moment`, for a consumer of its events.
    pub fn of(&self, moment: Moment, plugin: PluginId) -> impl Iterator<Item = &Arc<Subscription>> {
        self.at(moment).iter().filter(move |hook| hook.active.id == plugin)
    }

    /// The notification type `name`, if a plugin declares it.
    #[must_use]
    pub fn notification(&self, name: &str) -> Option<&NotificationKind> {
        self.notifications.get(name)
    }

    /// Every notification type that plugins declare.
    pub fn notification_names(&self) -> impl Iterator<Item = &str> {
        self.notifications.keys().map(String::as_str)
    }
}

/// The hooks of each moment in order, as indices (plugin, hook).
fn plan(manifests: &[&Manifest]) -> Result<BTreeMap<Moment, Vec<(usize, usize)>>, LoadError> {
    let mut moments: BTreeMap<Moment, Vec<(usize, usize)>> = BTreeMap::new();
    let mut owners = BTreeMap::new();
    for (plugin, manifest) in manifests.iter().enumerate() {
        for (number, hook) in manifest.hooks.iter().enumerate() {
            moments.entry(hook.on).or_default().push((plugin, number));
            for claim in claims(&manifest.plugin.name, hook)? {
                claim_for(&mut owners, &claim, &manifest.plugin.name)?;
            }
        }
    }
    for hooks in moments.values_mut() {
        hooks.sort_by_key(|(plugin, hook)| {
            let manifest = manifests[*plugin];
            manifest.hooks[*hook].order(&manifest.plugin.name)
        });
    }
    Ok(moments)
}

/// The name of the resource that a hook claims exclusively.
fn claims(plugin: &str, hook: &Hook) -> Result<Vec<String>, LoadError> {
    match hook.on {
        Moment::Decorate => decorated(plugin, hook),
        Moment::ActivityHandler => Ok(hook.kinds.iter().map(|kind| format!("activities of type {kind}")).collect()),
        Moment::Channels => Ok(hook.kinds.iter().map(|channel| format!("the stream {channel}")).collect()),
        Moment::StatusFilter => {
            if let Some(core) = hook.kinds.iter().find(|word| is_core_visibility(word)) {
                return Err(taken(plugin, &format!("the visibility {core}")));
            }
            let words = hook.kinds.iter().map(|word| format!("the visibility {word}"));
            Ok(words.chain(hook.audience.iter().map(|name| format!("the audience by {name}"))).collect())
        }
        Moment::SignUp => Ok(hook.params.iter().map(|param| format!("the parameter {param} of sign-ups")).collect()),
        Moment::Events | Moment::NotificationFilter | Moment::ActivityFilter | Moment::Fanout => Ok(Vec::new()),
    }
}

fn decorated(plugin: &str, hook: &Hook) -> Result<Vec<String>, LoadError> {
    let invalid = |what: String| Err(LoadError::new(Stage::Validate, format!("plugin {plugin}: {what}")));
    let [kind] = hook.kinds.as_slice() else {
        return invalid("a decorate hook names one kind of entity: kinds = [\"status\"]".to_owned());
    };
    let Some(core) = entity::members(kind) else {
        return invalid(format!(
            "{kind:?} is no kind of entity that is decorated: status, account, notification, list, trend are"
        ));
    };
    if let Some(unknown) = hook.defaults.keys().find(|name| !hook.fields.contains(name)) {
        return invalid(format!("defaults has {unknown:?}, which is not among fields"));
    }
    let mut claims = Vec::new();
    for name in &hook.fields {
        if !Field::new(name, None).is_well_named() {
            return invalid(format!(
                "{name:?} is no name of a member: letters, digits, underscores and at most one dot"
            ));
        }
        if let Some(reserved) = Field::new(name, None).reserved() {
            return invalid(format!(
                "{name:?} is no name of a member: objects of JavaScript have {reserved} themselves"
            ));
        }
        // Clients that ignore case would take one for the other.
        let has = |name: &str| core.iter().find(|member| member.eq_ignore_ascii_case(name));
        let closed = name
            .split_once('.')
            .is_some_and(|(parent, _)| has(parent).is_some_and(|member| *member != parent || !OPEN.contains(member)));
        if closed || has(name).is_some() {
            return Err(taken(plugin, &format!("the member {name} of {kind}")));
        }
        claims.push(format!("the member {name} of {kind}"));
    }
    Ok(claims)
}

fn is_core_visibility(word: &str) -> bool {
    word.parse::<Visibility>().is_ok() || word == "mutual" || word == "reply"
}

fn taken(plugin: &str, what: &str) -> LoadError {
    LoadError::new(
        Stage::Conflict,
        format!("plugin {plugin} claims {what}, which the server itself has: choose another name"),
    )
}

/// Claims that differ in case alone are one.
fn claim_for<'a>(owners: &mut BTreeMap<String, &'a str>, claim: &str, plugin: &'a str) -> Result<(), LoadError> {
    let claimed = claim.to_lowercase();
    if let Some(owner) = owners.get(&claimed) {
        let sentence = format!("plugin {plugin} claims {claim}, which is {owner}'s: switch one of the two off");
        return Err(LoadError::new(Stage::Conflict, sentence));
    }
    owners.insert(claimed, plugin);
    Ok(())
}

fn notifications(manifests: &[&Manifest]) -> Result<BTreeMap<String, NotificationKind>, LoadError> {
    let mut kinds = BTreeMap::new();
    let mut owners = BTreeMap::new();
    let core: BTreeSet<&str> = NotificationType::ALL.iter().map(|kind| kind.as_str()).collect();
    for manifest in manifests {
        let plugin = manifest.plugin.name.as_str();
        for kind in &manifest.notifications {
            let claim = format!("the notification type {}", kind.name);
            if core.contains(kind.name.as_str()) {
                return Err(taken(plugin, &claim));
            }
            claim_for(&mut owners, &claim, plugin)?;
            kinds.insert(kind.name.clone(), kind.clone());
        }
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, rest: &str) -> Manifest {
        let about = format!(
            "[plugin]\nname = \"{name}\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"T\"\nlicense = \"MIT\"\nwasm = \"x.wasm\"\n{rest}"
        );
        toml::from_str(&about).unwrap()
    }

    fn refused(manifests: &[&Manifest]) -> String {
        let fault = plan(manifests).err().or_else(|| notifications(manifests).err()).unwrap();
        fault.message
    }

    #[test]
    fn order_does_not_depend_on_the_order_of_packages() {
        let hook = |rest: &str| format!("[[hook]]\non = \"status-filter\"\n{rest}");
        let a = manifest("aa", &hook("priority = 50"));
        let b = manifest("bb", &hook(""));
        let c = manifest("cc", &hook("priority = 5"));
        let names = |manifests: [&Manifest; 3]| {
            let plan = plan(&manifests).unwrap();
            plan[&Moment::StatusFilter].iter().map(|(p, _)| manifests[*p].plugin.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names([&a, &b, &c]), ["cc", "aa", "bb"]);
        assert_eq!(names([&c, &b, &a]), ["cc", "aa", "bb"]);
        let tied = manifest("zz", &hook(""));
        assert_eq!(names([&tied, &a, &b]), ["aa", "bb", "zz"], "the default is 100, and names decide");
    }

    #[test]
    fn two_plugins_do_not_decorate_one_member_nor_handle_one_type() {
        let field = "[[hook]]\non = \"decorate\"\nkinds = [\"status\"]\nfields = [\"mood\"]";
        let (a, b) = (manifest("aa", field), manifest("bb", field));
        assert_eq!(
            refused(&[&a, &b]),
            "plugin bb claims the member mood of status, which is aa's: switch one of the two off"
        );
        let account = manifest("bb", &field.replace("status\"]", "account\"]"));
        assert!(plan(&[&a, &account]).is_ok());
        let handler = "[[hook]]\non = \"activity-handler\"\nkinds = [\"EmojiReact\"]";
        let (a, b) = (manifest("aa", handler), manifest("bb", handler));
        assert!(refused(&[&a, &b]).starts_with("plugin bb claims activities of type EmojiReact"));
        let rings = "[[hook]]\non = \"status-filter\"\nparams = [\"ring\"]\naudience = [\"ring\"]";
        let (a, b) = (manifest("aa", rings), manifest("bb", rings));
        assert!(refused(&[&a, &b]).starts_with("plugin bb claims the audience by ring"));
        let channel = "[[hook]]\non = \"channels\"\nkinds = [\"antenna\"]";
        let (a, b) = (manifest("aa", channel), manifest("bb", channel));
        assert!(refused(&[&a, &b]).starts_with("plugin bb claims the stream antenna"));
    }

    #[test]
    fn core_members_are_not_for_plugins() {
        let content = manifest("aa", "[[hook]]\non = \"decorate\"\nkinds = [\"status\"]\nfields = [\"content\"]");
        assert!(refused(&[&content]).contains("the member content of status, which the server itself has"));
        let word = manifest("aa", "[[hook]]\non = \"status-filter\"\nkinds = [\"private\"]");
        assert!(refused(&[&word]).contains("the visibility private"));
        let mention = manifest("aa", "[[notification]]\ntype = \"mention\"");
        assert!(refused(&[&mention]).contains("the notification type mention"));
        let (a, b) = (
            manifest("aa", "[[notification]]\ntype = \"emoji_reaction\""),
            manifest("bb", "[[notification]]\ntype = \"emoji_reaction\""),
        );
        assert!(refused(&[&a, &b]).contains("which is aa's"));
    }

    #[test]
    fn members_that_differ_in_case_alone_and_members_of_every_object_are_refused() {
        let field = |plugin: &str, name: &str| {
            manifest(plugin, &format!("[[hook]]\non = \"decorate\"\nkinds = [\"status\"]\nfields = [\"{name}\"]"))
        };
        for reserved in ["__proto__", "constructor", "toString", "pleroma.__proto__"] {
            assert!(refused(&[&field("aa", reserved)]).contains("objects of JavaScript have"), "{reserved}");
        }
        for core in ["Content", "CONTENT", "Account.mood"] {
            assert!(refused(&[&field("aa", core)]).contains("which the server itself has"), "{core}");
        }
        let (a, b) = (field("aa", "mood"), field("bb", "Mood"));
        assert!(refused(&[&a, &b]).contains("which is aa's"));
        let both = "[[hook]]\non = \"decorate\"\nkinds = [\"status\"]\nfields = [\"mood\", \"Mood\"]";
        assert!(refused(&[&manifest("aa", both)]).contains("which is aa's"));
    }

    #[test]
    fn decorator_names_one_kind_and_plain_members() {
        let hook = |rest: &str| manifest("aa", &format!("[[hook]]\non = \"decorate\"\n{rest}"));
        assert!(refused(&[&hook("fields = [\"a\"]")]).contains("names one kind"));
        assert!(refused(&[&hook("kinds = [\"toast\"]\nfields = [\"a\"]")]).contains("no kind of entity"));
        assert!(refused(&[&hook("kinds = [\"status\"]\nfields = [\"a.b.c\"]")]).contains("no name of a member"));
        let stray = hook("kinds = [\"status\"]\nfields = [\"a\"]\ndefaults = { b = 1 }");
        assert!(refused(&[&stray]).contains("not among fields"));
        let nested = hook("kinds = [\"account\"]\nfields = [\"other_settings.mood\"]");
        assert!(plan(&[&nested]).is_ok());
    }
}
