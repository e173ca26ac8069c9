//! E-mail: confirmation, password reset, approval, and notification digests, from the templates in `templates/mail`.
//!
//! [`email`] queues a mail; [`compose`] renders it when it is sent.

use std::sync::LazyLock;

use minijinja::context;

use crate::moderation::strike_link;
use crate::server::terms;
use crate::templates::Templates;
use crate::{confirmation, email, notification, password};
use context::error::Result;
use context::messages::Language;
use context::queue::{Failure, MailNotifications, RequestMail, SendMail, Subject};
use context::{Cx, job};
use database::Tx;
use mail::Email;
use model::actor::User;
use model::link::LinkKind;
use model::{AccountId, NotificationId, RowId, ScheduledStatusId};

/// The templates of all mails.
static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| {
    Templates::new(&[
        ("mail/_layout.html", include_str!("../templates/mail/_layout.html")),
        ("mail/appeal.txt", include_str!("../templates/mail/appeal.txt")),
        ("mail/approved.txt", include_str!("../templates/mail/approved.txt")),
        ("mail/confirm.html", include_str!("../templates/mail/confirm.html")),
        ("mail/confirm.txt", include_str!("../templates/mail/confirm.txt")),
        ("mail/notifications.txt", include_str!("../templates/mail/notifications.txt")),
        ("mail/reset.html", include_str!("../templates/mail/reset.html")),
        ("mail/reset.txt", include_str!("../templates/mail/reset.txt")),
        ("mail/schedule_failed.txt", include_str!("../templates/mail/schedule_failed.txt")),
        ("mail/terms.txt", include_str!("../templates/mail/terms.txt")),
        ("mail/warning.txt", include_str!("../templates/mail/warning.txt")),
    ])
});

/// Queues the mail requested by [`request`](crate::email::request). Does nothing for an address without an account, or sealed with another
/// key.
#[model::use_case]
#[job]
async fn answer_request(cx: &Cx, tx: &mut Tx, RequestMail { sealed_email, subject }: RequestMail) -> Result<()> {
    let Some(address) = cx.keys.open(email::REQUESTED, "", &sealed_email) else { return Ok(()) };
    let Some(user) = store::user::find_by_email(&mut *tx, address.expose()).await? else { return Ok(()) };
    match subject {
        Subject::Reset => password::send_link(cx, tx, &user).await,
        Subject::Confirm => confirmation::send_link(cx, tx, &user).await,
        // Sent by events, never requested.
        Subject::Approved
        | Subject::ScheduleFailed(_)
        | Subject::Warning(_)
        | Subject::AppealDecided(_)
        | Subject::Terms(_) => Ok(()),
    }
}

/// Renders a mail in the language of its account's settings, else the server's; `None` when it is obsolete: the
/// account was deleted, the link was used or replaced, or the scheduled status was deleted or moved to another time.
pub async fn compose(cx: &Cx, account: AccountId, subject: Subject, link: Option<RowId>) -> Result<Option<Email>> {
    let Some(user) = store::user::find(&cx.db, account).await? else { return Ok(None) };
    let Some(account) = store::account::find(&cx.db, account).await? else { return Ok(None) };
    let link = match link {
        Some(id) => match store::one_time_link::find(&cx.db, id, cx.clock.now()).await? {
            Some(link) => Some(link),
            None => return Ok(None),
        },
        None => None,
    };
    let language = user.locale.as_deref().and_then(Language::of).unwrap_or_else(|| cx.language());
    let failed = match subject {
        Subject::ScheduleFailed(id) => match failure(cx, language, id).await? {
            Some(failed) => Some(failed),
            None => return Ok(None),
        },
        Subject::Confirm
        | Subject::Reset
        | Subject::Approved
        | Subject::Warning(_)
        | Subject::AppealDecided(_)
        | Subject::Terms(_) => None,
    };
    let (scheduled_at, reason) = failed.unzip();
    let warning = match subject {
        Subject::Warning(id) => match store::warning::list(&cx.db, &[id]).await?.pop() {
            Some(warning) => Some(warning),
            None => return Ok(None),
        },
        Subject::Confirm
        | Subject::Reset
        | Subject::Approved
        | Subject::ScheduleFailed(_)
        | Subject::AppealDecided(_)
        | Subject::Terms(_) => None,
    };
    let appeal = match subject {
        Subject::AppealDecided(id) => match store::warning::find_appeal(&cx.db, id).await? {
            Some(appeal) => Some(appeal),
            None => return Ok(None),
        },
        Subject::Confirm
        | Subject::Reset
        | Subject::Approved
        | Subject::ScheduleFailed(_)
        | Subject::Warning(_)
        | Subject::Terms(_) => None,
    };
    let terms = match subject {
        Subject::Terms(id) => match store::terms::find_by_id(&cx.db, id).await? {
            Some(terms) => Some(terms),
            None => return Ok(None),
        },
        Subject::Confirm
        | Subject::Reset
        | Subject::Approved
        | Subject::ScheduleFailed(_)
        | Subject::Warning(_)
        | Subject::AppealDecided(_) => None,
    };
    let strike = warning.as_ref().map(|warning| warning.id).or(appeal.as_ref().map(|appeal| appeal.warning_id));
    let url = link.as_ref().map(|link| crate::link::url(cx, link.kind, link.id)).unwrap_or_default();
    let address_change = user.confirmed_at.is_some();
    let values = context! {
        username => account.username,
        url => url,
        needs_approval => !user.approved,
        address_change => address_change,
        scheduled_at => scheduled_at,
        reason => reason,
        action => warning.as_ref().map(|warning| warning.action.as_str()),
        text => warning.as_ref().map(|warning| warning.text.clone()),
        decision => appeal.as_ref().map(|appeal| appeal.state().as_str()),
        strike_url => strike.map(|strike| strike_link::url(cx, strike)),
        terms_date => terms.as_ref().map(|terms| terms::day(language, &terms.effective_date)),
        terms_url => terms.as_ref().map(|terms| cx.urls.path(&format!("/terms-of-service/{}", terms.effective_date))),
        valid_hours => LinkKind::ResetPassword.lifetime().num_hours(),
    };
    let to = recipient(subject, user, link.and_then(|link| link.email));
    let title = cx.settings().site_title.clone();
    Ok(Some(Email {
        to,
        subject: subject_line(subject, language, &title),
        text: TEMPLATES.render(cx, language, &format!("mail/{}.txt", template(subject)), &values)?,
        html: match subject {
            Subject::Confirm | Subject::Reset => {
                Some(TEMPLATES.render(cx, language, &format!("mail/{}.html", template(subject)), &values)?)
            }
            Subject::Approved
            | Subject::ScheduleFailed(_)
            | Subject::Warning(_)
            | Subject::AppealDecided(_)
            | Subject::Terms(_) => None,
        },
        unsubscribe_url: None,
        date: cx.clock.now(),
    }))
}

/// Renders the digest for `account` with its unread notifications from `first` on; `None` when there are none, or it
/// wants none by mail.
async fn compose_news(cx: &Cx, account: AccountId, first: NotificationId) -> Result<Option<Email>> {
    let Some(user) = store::user::find(&cx.db, account).await? else { return Ok(None) };
    let Some(account) = store::account::find(&cx.db, account).await? else { return Ok(None) };
    let language = user.locale.as_deref().and_then(Language::of).unwrap_or_else(|| cx.language());
    let Some(news) = notification::letter(cx, language, account.id, first).await? else { return Ok(None) };
    let unsubscribe_url = notification::unsubscribe_url(cx, account.id);
    let values = context! {
        username => account.username,
        lines => news.lines,
        more => news.more,
        unsubscribe_url => unsubscribe_url,
    };
    Ok(Some(Email {
        to: user.email,
        subject: language.say_with("mail_notifications.subject", &[("site", &cx.settings().site_title)]),
        text: TEMPLATES.render(cx, language, "mail/notifications.txt", &values)?,
        html: None,
        unsubscribe_url: Some(unsubscribe_url),
        date: cx.clock.now(),
    }))
}

/// The time for which a status was scheduled, and why it was not published.
async fn failure(cx: &Cx, language: Language, id: ScheduledStatusId) -> Result<Option<(String, String)>> {
    let row = store::scheduled_status::find(&cx.db, id).await?;
    Ok(row.and_then(|row| Some((language.minute(&row.scheduled_at), row.failure?))))
}

/// A confirmation goes to the address to be confirmed, everything else to the confirmed address.
fn recipient(subject: Subject, user: User, confirming: Option<String>) -> String {
    match (subject, confirming) {
        (Subject::Confirm, Some(email)) => email,
        (
            Subject::Confirm
            | Subject::Reset
            | Subject::Approved
            | Subject::ScheduleFailed(_)
            | Subject::Warning(_)
            | Subject::AppealDecided(_)
            | Subject::Terms(_),
            _,
        ) => user.email,
    }
}

fn template(subject: Subject) -> &'static str {
    match subject {
        Subject::Confirm => "confirm",
        Subject::Reset => "reset",
        Subject::Approved => "approved",
        Subject::ScheduleFailed(_) => "schedule_failed",
        Subject::Warning(_) => "warning",
        Subject::AppealDecided(_) => "appeal",
        Subject::Terms(_) => "terms",
    }
}

fn subject_line(subject: Subject, language: Language, site_title: &str) -> String {
    let key = match subject {
        Subject::Confirm => "mail_confirm.subject",
        Subject::Reset => "mail_reset.subject",
        Subject::Approved => "mail_approved.subject",
        Subject::ScheduleFailed(_) => "mail_schedule.subject",
        Subject::Warning(_) => "mail_warning.subject",
        Subject::AppealDecided(_) => "mail_appeal.subject",
        Subject::Terms(_) => "mail_terms.subject",
    };
    language.say_with(key, &[("site", &site_title)])
}

// Delivery is at least once: a kill between sending and removing the job sends a mail twice.

#[model::use_case]
#[job]
async fn send_mail(cx: &Cx, job: SendMail) -> Result<(), Failure> {
    send(cx, compose(cx, job.account, job.subject, job.link).await?).await
}

#[model::use_case]
#[job]
async fn mail_notifications(cx: &Cx, job: MailNotifications) -> Result<(), Failure> {
    send(cx, compose_news(cx, job.account, job.first).await?).await
}

/// Sends a mail, if there is one.
async fn send(cx: &Cx, letter: Option<Email>) -> Result<(), Failure> {
    let Some(letter) = letter else { return Ok(()) };
    match cx.mail.send(letter).await {
        Ok(()) => Ok(()),
        Err(mail::Error::Permanent(why)) => Err(Failure::Fail(why)),
        Err(mail::Error::Temporary(why)) => Err(Failure::Retry(why)),
    }
}
