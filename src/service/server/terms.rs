//! The terms of service: versions, each from a day on, and mails about a new one.
//!
//! Reached from `rookery terms`, the instance routes, their pages and the job [`MailTerms`]. A version that applies
//! already stays: people agreed to it. The setting `terms_of_service_dates` has the dates of all versions, so that pages
//! know without a query whether there are terms.
//!
//! Spec: docs/contract/rules.md#27-instance, <https://docs.joinmastodon.org/entities/TermsOfService/>

use chrono::{Datelike as _, Duration, NaiveDate};

use crate::audit::{self, Entry, Target};
use config::MailTransport;
use context::error::{Error, Result};
use context::queue::{self, MailTerms, SendMail, Subject};
use context::{Cx, job};
use database::Tx;
use model::instance::TermsOfService;
use model::{AccountId, Staff};
use serde_json::json;

/// Longest text, in bytes.
pub const TEXT_MAX: usize = 256 * 1024;

/// Most versions.
const VERSIONS_MAX: usize = 500;

/// The key of the setting with the dates of all versions.
const DATES: &str = "terms_of_service_dates";

/// Mails that one run of the job queues, and the time until the next run: at most 6,000 in an hour.
const BATCH: i64 = 100;
const PAUSE: Duration = Duration::minutes(1);

/// The dates of all versions, the earliest first.
#[must_use]
pub fn dates(cx: &Cx) -> Vec<String> {
    cx.settings().terms_of_service_dates.clone()
}

/// True when there are terms of service.
#[must_use]
pub fn exist(cx: &Cx) -> bool {
    !cx.settings().terms_of_service_dates.is_empty()
}

/// The version that applies today, else the first one that will.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
#[model::use_case]
pub async fn current(cx: &Cx) -> Result<TermsOfService> {
    let (today, dates) = (cx.clock.now().to_api_date(), dates(cx));
    let date = dates.iter().rfind(|date| **date <= today).or(dates.first()).ok_or(Error::NotFound)?;
    of_date(cx, date).await
}

/// The version that applies from the day `date`, such as `2026-11-21`.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
#[model::use_case]
pub async fn of_date(cx: &Cx, date: &str) -> Result<TermsOfService> {
    store::terms::find(&cx.db, date).await?.ok_or(Error::NotFound)
}

/// The date of the version that follows the one of `date`.
#[must_use]
pub fn successor(cx: &Cx, date: &str) -> Option<String> {
    dates(cx).into_iter().find(|other| other.as_str() > date)
}

/// True when the version of `date` applies, or applied, by today.
#[must_use]
pub fn is_effective(cx: &Cx, date: &str) -> bool {
    date <= cx.clock.now().to_api_date().as_str()
}

/// The day `date` as people write it in `language`.
#[must_use]
pub fn day(language: context::Language, date: &str) -> String {
    let day = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok().and_then(|day| day.and_hms_opt(0, 0, 0));
    day.map_or_else(|| date.to_owned(), |day| language.day(&day.and_utc()))
}

/// Publishes a version that applies from the day `date` on. With `mail`, everyone whose address is confirmed gets a mail
/// about it.
///
/// # Errors
/// [`Error::Invalid`] for a malformed date, a date that has a version already, an empty or too long text, too many
/// versions, and mails of a server that sends none.
#[model::use_case]
pub async fn publish(cx: &Cx, staff: &Staff, date: &str, text: &str, mail: bool) -> Result<TermsOfService> {
    let date = parse_date(date)?;
    if text.trim().is_empty() || text.len() > TEXT_MAX || text.contains('\0') {
        return Err(Error::invalid(format!("the text of terms of service has 1 to {TEXT_MAX} bytes")));
    }
    if mail && cx.config.mail.transport == MailTransport::None {
        return Err(Error::invalid("this server sends no mail: mail.transport is none"));
    }
    let now = cx.clock.now();
    let terms = TermsOfService { id: cx.ids.next(), effective_date: date, text: text.to_owned(), created_at: now };
    let mut tx = cx.db.begin().await?;
    let mut dates = locked_dates(cx, &mut tx).await?;
    if dates.len() >= VERSIONS_MAX {
        return Err(Error::invalid(format!("there are {VERSIONS_MAX} versions of the terms of service already")));
    }
    if !store::terms::insert(&mut tx, &terms).await? {
        return Err(Error::invalid(format!("there are terms of service of {} already", terms.effective_date)));
    }
    dates.push(terms.effective_date.clone());
    dates.sort_unstable();
    store::settings::set(&mut tx, DATES, &json!(dates), now).await?;
    if mail {
        queue::enqueue(cx, &mut tx, &MailTerms { terms: terms.id, after: AccountId::from(0) }).await?;
    }
    let target = Target::new("terms_of_service", terms.id, terms.effective_date.clone());
    audit::record(cx, &mut tx, staff, Entry::new("terms_of_service.publish", target).with(json!({ "mail": mail })))
        .await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(terms)
}

/// Removes a version that does not apply yet. Mails about it that were not sent are not sent.
///
/// # Errors
/// [`Error::Invalid`] when there is none of this date, and for one that applies already.
#[model::use_case]
pub async fn remove(cx: &Cx, staff: &Staff, date: &str) -> Result<()> {
    let date = parse_date(date)?;
    if is_effective(cx, &date) {
        return Err(Error::invalid(format!("the terms of service of {date} apply already")));
    }
    let mut tx = cx.db.begin().await?;
    let mut dates = locked_dates(cx, &mut tx).await?;
    if !store::terms::delete(&mut tx, &date).await? {
        return Err(Error::invalid(format!("there are no terms of service of {date}")));
    }
    dates.retain(|other| *other != date);
    store::settings::set(&mut tx, DATES, &json!(dates), cx.clock.now()).await?;
    let target = Target::new("terms_of_service", 0, date);
    audit::record(cx, &mut tx, staff, Entry::new("terms_of_service.delete", target)).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(())
}

/// The dates of all versions. Locks the row of the generation, so that two changes of them cannot overtake each other.
async fn locked_dates(cx: &Cx, tx: &mut Tx) -> Result<Vec<String>> {
    store::settings::bump_generation(tx, cx.clock.now()).await?;
    Ok(store::settings::load(tx).await?.terms_of_service_dates)
}

/// The day `text` in the form of the API.
fn parse_date(text: &str) -> Result<String> {
    let date =
        NaiveDate::parse_from_str(text.trim(), "%Y-%m-%d").ok().filter(|date| (1970..=9999).contains(&date.year()));
    let date = date.ok_or_else(|| Error::invalid("the date has the form 2026-11-21"))?;
    Ok(date.format("%Y-%m-%d").to_string())
}

/// Queues the mails to the next people. The next run is queued in the same transaction, so that each gets one mail
/// whatever interrupts the job.
#[model::use_case]
#[job]
async fn mail_terms(cx: &Cx, tx: &mut Tx, MailTerms { terms, after }: MailTerms) -> Result<()> {
    if store::terms::find_by_id(&mut *tx, terms).await?.is_none() {
        return Ok(());
    }
    let people = store::terms::recipients(&mut *tx, after, BATCH).await?;
    let mails: Vec<SendMail> = people
        .iter()
        .map(|account| SendMail { account: *account, subject: Subject::Terms(terms), link: None })
        .collect();
    queue::enqueue_all(cx, tx, &mails).await?;
    match people.last() {
        Some(last) if people.len() == usize::try_from(BATCH).unwrap_or_default() => {
            queue::enqueue_at(cx, tx, &MailTerms { terms, after: *last }, cx.clock.now() + PAUSE).await
        }
        Some(_) | None => Ok(()),
    }
}
