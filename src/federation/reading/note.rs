//! A note as a status, as a list of steps: it was not deleted, its audience, its place in its thread, the software of its
//! server, and the members that are kept.
//!
//! Who wrote it is [`author`](super::author), which comes before.

use context::Cx;
use model::{AccountId, Time};
use service::remote::status::RemoteStatus;

use super::audience::{Audience, audience};
use super::author::Author;
use super::emoji::emojis;
use super::media::media;
use super::members::{content, hashtags, language, page, references, spoiler};
use super::policy::policy;
use super::poll::poll;
use super::searchability::{effective_searchability, is_of_misskey};
use super::thread::{Thread, thread};
use crate::Failure;
use crate::vocabulary::Note;

/// A note as a status, and the accounts of this server that it is addressed to.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) status: RemoteStatus,
    pub(crate) local: Vec<AccountId>,
}

/// Reads `note`. `mailbox`: the owner of the inbox that it came to.
///
/// # Errors
/// [`Failure`].
pub(crate) async fn read(cx: &Cx, note: &Note, author: &Author, mailbox: Option<AccountId>) -> Result<Read, Failure> {
    if service::remote::relevance::is_undone(cx, author.id, &note.id).await? {
        return Err(Failure::Gone);
    }
    let audience = audience(cx, note, author, mailbox).await?;
    let thread = thread(cx, note).await?;
    explain(cx, &audience, &thread);
    let misskey = is_of_misskey(cx, note).await?;
    let local = audience.addressees.local.clone();
    let status = status(note, author, audience, thread, misskey, cx.clock.now());
    Ok(Read { status: RemoteStatus { delivered: mailbox.is_some(), ..status }, local })
}

fn explain(cx: &Cx, audience: &Audience, thread: &Thread) {
    cx.step("audience", true, || {
        let parent = if thread.parent.is_some() { "known" } else { "none that is known" };
        let (visibility, local) = (audience.visibility.as_str(), audience.addressees.local.len());
        format!("visibility {visibility}, addressed accounts of this server: {local}, parent: {parent}")
    });
}

/// The members of `note`. `misskey`: it is of software that states no language and no searchability.
fn status(note: &Note, author: &Author, audience: Audience, thread: Thread, misskey: bool, now: Time) -> RemoteStatus {
    let Audience { visibility, limited_scope, addressees } = audience;
    let page = page(note);
    let time = |stated: &Option<String>| stated.as_deref().and_then(Time::parse_rfc3339);
    RemoteStatus {
        uri: note.id.clone(),
        author: author.id,
        content: content(note, &page),
        url: Some(page),
        spoiler_text: spoiler(note),
        sensitive: note.sensitive.unwrap_or_default(),
        language: language(note).or_else(|| misskey.then(|| "ja".to_owned())),
        visibility,
        limited_scope,
        searchability: effective_searchability(note, author, visibility, misskey),
        in_reply_to: thread.parent,
        missing_parent: thread.missing_parent,
        replies: thread.replies,
        depth: 0,
        conversation: thread.conversation,
        mentions: addressees.tagged,
        unknown_mentions: addressees.unknown,
        unknown_audience: addressees.unnamed,
        audience: addressees.silent,
        tags: hashtags(note),
        poll: poll(note, now),
        media: media(note),
        emojis: emojis(&note.id, &note.tag),
        references: references(note),
        quote_authorization: None,
        reply_authorization: None,
        verify_later: false,
        interaction_policy: policy(note, author),
        created_at: time(&note.published).filter(|time| *time < now).unwrap_or(now),
        edited_at: time(&note.updated),
        delivered: false,
    }
}
