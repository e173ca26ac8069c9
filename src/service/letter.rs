//! What the server writes to people by mail, from the templates in `http/web/templates/mail`.
//!
//! [`queue`] is called in the transaction that makes a letter due; [`compose`] writes it when it is sent, so the queue holds
//! neither addresses nor links.

use minijinja::context;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::Result;
use crate::jobs;
use crate::jobs::send_mail::SendMail;
use crate::service;
use crate::templates;
use mail::Letter;
use model::actor::User;
use model::link::LinkKind;
use model::{AccountId, RowId};
use store::Tx;

/// What is written about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Is this address yours?
    Confirm,
    /// Choose a new password.
    Reset,
    /// Your request was approved.
    Approved,
}

/// Queues a letter to `account`; `link` is the one it is about.
///
/// # Errors
/// When the database does.
pub async fn queue(app: &App, tx: &mut Tx, account: AccountId, subject: Subject, link: Option<RowId>) -> Result<()> {
    jobs::enqueue(app, tx, &SendMail { account, subject, link }).await
}

/// Writes a letter; `None` when it is of no use any more: the account is gone, or the link was used or replaced.
///
/// # Errors
/// When the database does, or a template does not render.
pub async fn compose(app: &App, account: AccountId, subject: Subject, link: Option<RowId>) -> Result<Option<Letter>> {
    let Some(user) = store::user::find(&app.db, account).await? else { return Ok(None) };
    let Some(account) = store::account::find(&app.db, account).await? else { return Ok(None) };
    let link = match link {
        Some(id) => match store::link::find(&app.db, id, app.clock.now()).await? {
            Some(link) => Some(link),
            None => return Ok(None),
        },
        None => None,
    };
    let url = link.as_ref().map(|link| service::link::url(app, link.kind, link.id)).unwrap_or_default();
    let address_change = user.confirmed_at.is_some();
    let values = context! {
        username => account.username,
        url => url,
        needs_approval => !user.approved,
        address_change => address_change,
        valid_hours => LinkKind::ResetPassword.lifetime().num_hours(),
    };
    let to = recipient(subject, user, link.and_then(|link| link.email));
    let title = app.settings().site_title.clone();
    Ok(Some(Letter {
        to,
        subject: subject.line(&title),
        text: templates::render(app, &format!("mail/{}.txt", subject.template()), &values)?,
        html: match subject {
            Subject::Confirm | Subject::Reset => {
                Some(templates::render(app, &format!("mail/{}.html", subject.template()), &values)?)
            }
            Subject::Approved => None,
        },
        date: app.clock.now(),
    }))
}

/// A confirmation goes to the address it is about, everything else to the address that is known to be theirs.
fn recipient(subject: Subject, user: User, confirming: Option<String>) -> String {
    match (subject, confirming) {
        (Subject::Confirm, Some(email)) => email,
        (Subject::Confirm | Subject::Reset | Subject::Approved, _) => user.email,
    }
}

impl Subject {
    fn template(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Reset => "reset",
            Self::Approved => "approved",
        }
    }

    fn line(self, site_title: &str) -> String {
        match self {
            Self::Confirm => format!("Confirm your address for {site_title}"),
            Self::Reset => format!("Choose a new password for {site_title}"),
            Self::Approved => format!("Your account on {site_title} is ready"),
        }
    }
}
