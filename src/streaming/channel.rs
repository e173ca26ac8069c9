//! The names of channels, their scopes and parameters, and their topics (docs/contract/streaming.md#4-channels).

use std::sync::Arc;

use crate::connection::Owner;
use crate::event::quote;
use crate::topic::{Public, Topic};
use context::{Cx, Error, extension};
use model::{AccountId, Actor, RowId};
use service::{auth, feed_access, list};

/// A channel that a client requests: its name, and the parameters of the request.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) params: Vec<(String, String)>,
}

/// A channel that is open to its client.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The name and the parameter, as a JSON array.
    pub(crate) label: Arc<str>,
    pub(crate) topics: Vec<Topic>,
    /// Set for a channel of an extension.
    pub(crate) grant: Option<Grant>,
}

/// The generation of an extension that opened a channel.
#[derive(Debug)]
pub(crate) struct Grant {
    /// The original request.
    pub(crate) wanted: Arc<Wanted>,
    pub(crate) generation: u64,
}

/// Why a channel was not opened, and the HTTP status of the error.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Refused {
    pub(crate) fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl Wanted {
    /// From the parameters of a query; `stream` is the name of the channel. Only its first value counts.
    pub(crate) fn of_query(query: &str) -> Option<Self> {
        let params: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let name = params.iter().find(|(name, _)| name == "stream").map(|(_, value)| value.clone())?;
        Some(Self { name, params })
    }

    /// From a path below `/api/v1/streaming/`, such as `public/local`, and a query: the channel of server-sent
    /// events.
    pub(crate) fn of_path(path: &str, query: &str) -> Self {
        let params: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let media = params.iter().find(|(name, _)| name == "only_media").is_some_and(|(_, value)| is_true(value));
        let mut name = path.replace('/', ":");
        if media && matches!(name.as_str(), "public" | "public:local" | "public:remote") {
            name.push_str(":media");
        }
        Self { name, params }
    }

    fn param(&self, name: &str) -> Option<&str> {
        let found = self.params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The label of a subscription: the name of the channel, and the parameter that selects a part of it.
    fn label(&self, param: Option<&str>) -> Arc<str> {
        match param {
            None => format!("[{}]", quote(&self.name)).into(),
            Some(param) => format!("[{},{}]", quote(&self.name), quote(param)).into(),
        }
    }

    /// The label that the channel would have if it were opened.
    pub(crate) fn any_label(&self) -> Arc<str> {
        match self.name.as_str() {
            "user" | "user:notification" | "direct" => self.label(None),
            "hashtag" | "hashtag:local" => self.label(self.param("tag")),
            // The parameter of a plugin's channel has the name of the channel, as with `list`.
            name => self.label(self.param(name)),
        }
    }

    /// Opens the channel to `owner`.
    pub(crate) async fn open(self: &Arc<Self>, cx: &Cx, owner: &Owner) -> Result<Opened, Refused> {
        let account = owner.account;
        let open = |topics| Ok(Opened { label: self.any_label(), topics, grant: None });
        match self.name.as_str() {
            "user" => {
                allow(owner, &["read:statuses"])?;
                let notified = owner.scopes.allows(&["read:notifications"]).then_some(Topic::Notifications(account));
                open([Some(Topic::User(account)), notified].into_iter().flatten().collect())
            }
            "user:notification" => {
                allow(owner, &["read:notifications"])?;
                open(vec![Topic::Notifications(account)])
            }
            "direct" => {
                allow(owner, &["read:statuses"])?;
                open(vec![Topic::Direct(account)])
            }
            "list" => {
                allow(owner, &["read:statuses"])?;
                open(vec![Topic::List(self.own_list(cx, owner).await?)])
            }
            "hashtag" | "hashtag:local" => {
                let tag = self.param("tag").ok_or_else(|| Refused::new(400, "Missing tag name parameter"))?;
                let name = text::hashtag::normalise(text::hashtag::bare(tag));
                let name = name.ok_or_else(|| Refused::new(400, "This is no name of a hashtag"))?;
                let topic = Topic::Tag { name, local: self.name == "hashtag:local" };
                check_access(cx, account, &topic).await?;
                open(vec![topic])
            }
            name => match public(name) {
                Some(public) => {
                    let topic = Topic::Public(public);
                    check_access(cx, account, &topic).await?;
                    open(vec![topic])
                }
                None => {
                    let actor = auth::actors(cx, &[account]).await?.pop().ok_or_else(unknown)?;
                    self.of_extension(cx, owner, &actor).await
                }
            },
        }
    }

    async fn own_list(&self, cx: &Cx, owner: &Owner) -> Result<RowId, Refused> {
        let wanted = self.param("list").ok_or_else(|| Refused::new(400, "Missing list name parameter"))?;
        let not_yours = || Refused::new(401, "Not authorized to stream this list");
        let id: i64 = wanted.parse().map_err(|_| not_yours())?;
        let actor = auth::actors(cx, &[owner.account]).await?.pop().ok_or_else(not_yours)?;
        match list::find(cx, &actor, id.into()).await {
            Ok(list) => Ok(list.id),
            Err(Error::NotFound) => Err(not_yours()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a channel of an extension for `owner`, whose account is `actor`. The extension returns the topics of the
    /// channel.
    pub(crate) async fn of_extension(
        self: &Arc<Self>,
        cx: &Cx,
        owner: &Owner,
        actor: &Actor,
    ) -> Result<Opened, Refused> {
        let cx = cx.begin(None);
        let generation = cx.extensions().channel_generation(&self.name).ok_or_else(unknown)?;
        allow(owner, &["read:statuses"])?;
        let actor = Arc::new(Actor { token: Some(owner.token), scopes: owner.scopes.clone(), ..actor.clone() });
        let opened = cx.extensions().open_channel(&cx, &actor, &self.name, self.params.clone()).await;
        let topic = |topic| match topic {
            extension::Topic::Feed(feed) => Topic::Feed(feed),
            extension::Topic::Messages(name) => Topic::Messages(name),
        };
        let topics = opened.map_err(refused)?.into_iter().map(topic).collect();
        let grant = Some(Grant { wanted: Arc::clone(self), generation });
        Ok(Opened { label: self.any_label(), topics, grant })
    }
}

/// Refuses a feed of the whole server of which `account` may read nothing. What it may read is decided again for each
/// status.
async fn check_access(cx: &Cx, account: AccountId, topic: &Topic) -> Result<(), Refused> {
    let Some(feed) = topic.server_feed() else { return Ok(()) };
    let part = topic.part();
    let is_open = |local: bool| !feed_access::is_disabled(cx, feed, local);
    if (!part.remote && is_open(true)) || (!part.local && is_open(false)) {
        return Ok(());
    }
    let actor = auth::actors(cx, &[account]).await?.pop();
    if actor.is_some_and(|actor| feed_access::views_disabled(&actor)) {
        return Ok(());
    }
    Err(Refused::new(401, "This timeline is disabled"))
}

fn unknown() -> Refused {
    Refused::new(400, "Unknown stream type")
}

fn allow(owner: &Owner, scopes: &[&str]) -> Result<(), Refused> {
    if owner.scopes.allows(scopes) {
        return Ok(());
    }
    Err(Refused::new(401, "Access token does not have the required scopes"))
}

/// The part of the public timeline that the channel `name` shows.
fn public(name: &str) -> Option<Public> {
    let (local, media) = match name {
        "public" => (None, false),
        "public:media" => (None, true),
        "public:local" => (Some(true), false),
        "public:local:media" => (Some(true), true),
        "public:remote" => (Some(false), false),
        "public:remote:media" => (Some(false), true),
        _ => return None,
    };
    Some(Public { local, media })
}

/// The values that the reference implementation takes for true.
fn is_true(value: &str) -> bool {
    !matches!(value, "" | "0" | "f" | "F" | "false" | "FALSE" | "off" | "OFF")
}

/// Passes on the error message of the plugin that refuses.
fn refused(error: Error) -> Refused {
    match error {
        Error::Refused(refusal) => Refused::new(refusal.status, refusal.message),
        Error::Plugin(_) => Refused::new(503, error.to_string()),
        other => other.into(),
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        context::log_failure!(error, "could not open a stream");
        Self::new(500, "Something went wrong on our side")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_names_of_channels() {
        let name = |path, query| Wanted::of_path(path, query).name;
        assert_eq!(name("user", ""), "user");
        assert_eq!(name("user/notification", ""), "user:notification");
        assert_eq!(name("public", "only_media=true"), "public:media");
        assert_eq!(name("public/local", "only_media=1"), "public:local:media");
        assert_eq!(name("public/remote", "only_media=off"), "public:remote");
        assert_eq!(name("hashtag", "only_media=true&tag=x"), "hashtag");
    }

    #[test]
    fn only_the_first_name_counts() {
        let wanted = Wanted::of_query("access_token=x&stream=hashtag&tag=%E7%8C%AB&stream=user").expect("a name");
        assert_eq!(&*wanted.any_label(), "[\"hashtag\",\"猫\"]");
        assert!(Wanted::of_query("access_token=x").is_none());
    }

    #[test]
    fn every_part_of_the_public_timeline_has_a_channel() {
        let shown: Vec<Public> = Public::parts(true, true).collect();
        let named =
            ["public", "public:media", "public:local", "public:local:media"].map(|name| public(name).expect("one"));
        assert!(named.iter().all(|part| shown.contains(part)) && shown.len() == 4);
        assert_eq!(Public::parts(false, false).count(), 2);
        assert!(public("public:nonsense").is_none());
    }
}
