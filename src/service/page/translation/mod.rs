//! Translation of statuses by a configured service.
//!
//! Reached from `POST /api/v1/statuses/{id}/translate` and from the list of languages. Only public content leaves
//! this server: text, content warning, poll options and descriptions of media. Translations are cached in memory for
//! a day, with bounded size; the number of concurrent requests to the service is limited. Its APIs are in
//! [`backend`].
//!
//! Spec: <https://docs.joinmastodon.org/methods/statuses/#translate>

mod backend;

use std::sync::Arc;

use chrono::TimeDelta;

use crate::{locale, rate_limits, visibility};
use backend::{Backend, Translated};
use context::Cx;
use context::error::{Error, Result};
use context::limits::{Key as Whose, Limit};
use model::translation::{Languages, Translation};
use model::{Actor, MediaId, PollId, Status, StatusId, Time};

/// How long translations and languages are cached.
const LIFETIME: TimeDelta = TimeDelta::days(1);
/// Largest text that is translated, in bytes: the limit of the services for one request.
const TEXT_MAX: usize = 100 * 1024;

/// True when a service is configured.
#[must_use]
pub fn is_enabled(cx: &Cx) -> bool {
    Backend::of(cx).is_some()
}

/// The source and target languages of the service; empty without one.
///
/// # Errors
/// [`Error::Unavailable`] when it does not respond.
#[model::use_case]
pub async fn languages(cx: &Cx) -> Result<Arc<Languages>> {
    let Some(backend) = Backend::of(cx) else { return Ok(Arc::default()) };
    let find = async {
        let _place = place(cx)?;
        backend.languages(cx).await
    };
    cx.caches.translation_languages.get(cx.clock.now(), LIFETIME, find).await
}

/// The status `id` in the language `lang`, else in the language of `actor` or their browser.
///
/// # Errors
/// [`Error::NotFound`] when no service is configured, or the status is missing or hidden; [`Error::Forbidden`] when
/// the status is not public, there is nothing to translate, or the service does not translate between these
/// languages; [`Error::RateLimited`] when `actor` made too many requests; [`Error::Unavailable`] when the service
/// does not respond, or its or this server's daily budget is used up.
#[model::use_case]
pub async fn translate(
    cx: &Cx,
    actor: &Actor,
    id: StatusId,
    lang: Option<&str>,
    accept_language: Option<&str>,
) -> Result<Arc<(Time, Translation)>> {
    let backend = Backend::of(cx).ok_or(Error::NotFound)?;
    let seen = visibility::status(cx, Some(actor), id).await?;
    let head = seen.proper();
    // The service is not part of this server.
    if !head.visibility.is_anonymous() || head.local_only {
        return Err(Error::forbidden("Only public posts can be translated"));
    }
    let status = store::status::find(&cx.db, head.id).await?.ok_or(Error::NotFound)?;
    let wanted = lang.filter(|lang| !lang.is_empty()).or_else(|| locale::find(Some(actor), None, accept_language));
    let wanted = wanted.unwrap_or_else(|| cx.config.server.locale.as_str());
    let languages = languages(cx).await?;
    let (source, target) = languages
        .pair(status.language.as_deref(), wanted)
        .ok_or_else(|| Error::forbidden("The post cannot be translated into that language"))?;
    let key = (status.id, status.version, target.clone());
    let now = cx.clock.now();
    if cx.caches.translations.get(&key).is_some_and(|kept| (now - kept.0).abs() >= LIFETIME) {
        cx.caches.translations.remove(&key);
    }
    // Concurrent requests for the same translation wait for this response.
    let made = async {
        let texts = Texts::load(cx, status).await?;
        let _place = place(cx)?;
        spend(cx, actor, &texts.sent()).await?;
        let answer = backend.translate(cx, texts.sent(), source.as_deref(), &target).await?;
        Ok::<_, Error>(Arc::new((now, texts.translated(answer, source.clone(), target.clone(), backend.provider()))))
    };
    Box::pin(cx.caches.translations.get_or_make(&key, made)).await
}

/// Counts a translation of `texts` for `actor`, and against the daily budget. Failed requests to the service count as
/// well, since they may be billed.
///
/// # Errors
/// [`Error::RateLimited`] beyond the limit of a person, [`Error::Unavailable`] when the budget is used up.
async fn spend(cx: &Cx, actor: &Actor, texts: &[String]) -> Result<()> {
    let config = &cx.config.translation;
    let limit = Limit { name: "TRANSLATIONS".into(), max: config.per_person_per_hour, window_seconds: 60 * 60 };
    rate_limits::require(cx, &limit, &Whose::Person(actor.id))?;
    if config.characters_per_day == 0 {
        return Ok(());
    }
    let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
    let (characters, budget) = (number(characters), number(config.characters_per_day));
    let mut tx = cx.db.begin().await?;
    if !store::translation_use::take(&mut tx, day(cx.clock.now()), characters, budget).await? {
        return Err(Error::Unavailable(
            "This server has reached its daily limit of translations: try again tomorrow".into(),
        ));
    }
    Ok(tx.commit().await?)
}

fn number(of: impl TryInto<i64>) -> i64 {
    of.try_into().unwrap_or(i64::MAX)
}

/// The day of `now` (UTC), counted from the epoch.
fn day(now: Time) -> i64 {
    now.timestamp().div_euclid(24 * 60 * 60)
}

/// A permit for one more request to the service.
fn place(cx: &Cx) -> Result<tokio::sync::SemaphorePermit<'_>> {
    let busy = |_| Error::Unavailable("The translation service is busy: try again later".into());
    cx.translation_requests.try_acquire().map_err(busy)
}

/// The translated parts of a status.
#[derive(Debug)]
struct Texts {
    status: Status,
    poll: Option<(PollId, Vec<String>)>,
    media: Vec<(MediaId, Option<String>)>,
}

impl Texts {
    async fn load(cx: &Cx, status: Status) -> Result<Self> {
        let options = if status.has_poll { store::poll::list(&cx.db, &[status.id], None).await? } else { Vec::new() };
        let id = options.first().map(|option| option.poll.id);
        let poll = id.map(|id| (id, options.into_iter().map(|option| option.title).collect()));
        let media = store::media::list_for_statuses(&cx.db, &[status.id]).await?;
        let media = media.into_iter().map(|media| (media.id, media.description)).collect();
        let texts = Self { status, poll, media };
        let length: usize = texts.sent().iter().map(String::len).sum();
        match length {
            0 => Err(Error::forbidden("There is nothing to translate")),
            length if length > TEXT_MAX => Err(Error::forbidden("The post is too long to be translated")),
            _ => Ok(texts),
        }
    }

    fn plain(&self) -> impl Iterator<Item = &str> {
        let options = self.poll.iter().flat_map(|(_, options)| options);
        let descriptions = self.media.iter().filter_map(|(_, description)| description.as_ref());
        std::iter::once(&self.status.spoiler_text).chain(options).chain(descriptions).map(String::as_str)
    }

    /// All non-empty texts, as HTML: the content, then the plain texts.
    fn sent(&self) -> Vec<String> {
        let plain = self.plain().map(|text| text::escape(text).replace('\n', "<br>"));
        std::iter::once(self.status.content.clone()).chain(plain).filter(|text| !text.is_empty()).collect()
    }

    /// Replaces the originals by the translations, which are in the order of [`Self::sent`]. The response of a
    /// service is sanitised like content of other servers.
    fn translated(
        self,
        answer: Translated,
        source: Option<String>,
        language: String,
        provider: &'static str,
    ) -> Translation {
        let mut texts = answer.texts.into_iter();
        let mut next = |original: &str| if original.is_empty() { None } else { texts.next() };
        let content = next(&self.status.content).map(|html| text::sanitise(&html)).unwrap_or_default();
        let mut plain = |original: &str| next(original).map(|html| text::plain(&html)).unwrap_or_default();
        let spoiler_text = plain(&self.status.spoiler_text);
        let poll = self.poll.map(|(id, options)| (id, options.iter().map(|option| plain(option)).collect()));
        let media = self.media.into_iter().map(|(id, text)| (id, text.map(|text| plain(&text)))).collect();
        let detected_source_language = source.or(answer.detected);
        Translation { detected_source_language, language, provider, content, spoiler_text, poll, media }
    }
}
