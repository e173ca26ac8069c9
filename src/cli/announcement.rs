//! `rookery announcement list|add|edit|publish|unpublish|remove`: announcements by the staff.

use clap::{Args, Subcommand};
use serde::Serialize;

use super::settings::standard_input;
use context::Cx;
use model::{RowId, Staff, Time};
use service::announcement::{self, Announcement, Draft, Publication};
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List every announcement, oldest first
    List,
    /// Create an announcement, which is published immediately
    Add {
        /// Its text; - reads it from standard input
        #[arg(allow_hyphen_values = true)]
        text: String,
        #[command(flatten)]
        event: Event,
        /// Publish it then: 2026-01-15T12:00:00Z, or 2026-01-15
        #[arg(long, value_name = "TIME", conflicts_with = "draft")]
        at: Option<String>,
        /// Do not publish it yet
        #[arg(long)]
        draft: bool,
    },
    /// Change an announcement
    Edit {
        /// Its id
        id: i64,
        /// New text; - reads it from standard input
        #[arg(long, allow_hyphen_values = true)]
        text: Option<String>,
        #[command(flatten)]
        event: Event,
        /// It is about no event any more
        #[arg(long, conflicts_with_all = ["starts_at", "ends_at", "all_day"])]
        no_event: bool,
    },
    /// Publish an announcement
    Publish {
        /// Its id
        id: i64,
        /// Not now, but then
        #[arg(long, value_name = "TIME")]
        at: Option<String>,
    },
    /// Take an announcement back; it stays as a draft
    Unpublish {
        /// Its id
        id: i64,
    },
    /// Delete an announcement
    Remove {
        /// Its id
        id: i64,
    },
}

/// The event that an announcement is about.
#[derive(Debug, Args)]
pub(super) struct Event {
    /// When the event starts
    #[arg(long, value_name = "TIME")]
    starts_at: Option<String>,
    /// When the event ends; the announcement is taken back then
    #[arg(long, value_name = "TIME")]
    ends_at: Option<String>,
    /// The event takes whole days
    #[arg(long)]
    all_day: bool,
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::List => false,
            Self::Add { .. }
            | Self::Edit { .. }
            | Self::Publish { .. }
            | Self::Unpublish { .. }
            | Self::Remove { .. } => true,
        }
    }
}

#[derive(Serialize)]
struct AnnouncementRow<'a> {
    id: RowId,
    text: &'a str,
    starts_at: Option<String>,
    ends_at: Option<String>,
    all_day: bool,
    scheduled_at: Option<String>,
    published_at: Option<String>,
    updated_at: String,
}

#[derive(Serialize)]
struct Changed {
    id: RowId,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List => {
            let all = announcement::list_all(cx).await?;
            let shown: Vec<AnnouncementRow<'_>> = all.iter().map(AnnouncementRow::from).collect();
            output.list(&shown, "There is no announcement.", AnnouncementRow::line)
        }
        Command::Add { text, event, at, draft } => {
            let when = if draft { Publication::Draft } else { publication(at.as_deref())? };
            let blank = Draft { text: read(text)?, starts_at: None, ends_at: None, all_day: false };
            let id = announcement::create(cx, &Staff::operator(), event.put_on(blank)?, when).await?;
            output.respond(&Changed { id }, || format!("Made the announcement {id}."))
        }
        Command::Edit { id, text, event, no_event } => {
            let text = text.map(read).transpose()?;
            let blank = Draft { text: String::new(), starts_at: None, ends_at: None, all_day: false };
            let new = event.put_on(blank)?;
            let edit = |old: Draft| edited(old, text, &new, no_event);
            announcement::edit(cx, &Staff::operator(), id.into(), edit).await?;
            output.respond(&Changed { id: id.into() }, || format!("Changed the announcement {id}."))
        }
        Command::Publish { id, at } => {
            announcement::publish(cx, &Staff::operator(), id.into(), publication(at.as_deref())?).await?;
            let when = if at.is_some() { "Scheduled" } else { "Published" };
            output.respond(&Changed { id: id.into() }, || format!("{when} the announcement {id}."))
        }
        Command::Unpublish { id } => {
            announcement::publish(cx, &Staff::operator(), id.into(), Publication::Draft).await?;
            output.respond(&Changed { id: id.into() }, || format!("Took the announcement {id} back."))
        }
        Command::Remove { id } => {
            announcement::remove(cx, &Staff::operator(), id.into()).await?;
            output.respond(&Changed { id: id.into() }, || format!("Deleted the announcement {id}."))
        }
    }
}

/// Given values replace existing ones.
fn edited(old: Draft, text: Option<String>, new: &Draft, no_event: bool) -> Draft {
    let text = text.unwrap_or(old.text);
    if no_event {
        return Draft { text, starts_at: None, ends_at: None, all_day: false };
    }
    Draft {
        text,
        starts_at: new.starts_at.or(old.starts_at),
        ends_at: new.ends_at.or(old.ends_at),
        all_day: new.all_day || old.all_day,
    }
}

fn publication(at: Option<&str>) -> Result<Publication, Failure> {
    Ok(match at {
        None => Publication::Now,
        Some(at) => Publication::At(announcement::time(at, false)?),
    })
}

fn read(text: String) -> Result<String, Failure> {
    if text == "-" { standard_input() } else { Ok(text) }
}

impl Event {
    fn put_on(&self, draft: Draft) -> Result<Draft, Failure> {
        let time = |text: &Option<String>, end| text.as_deref().map(|text| announcement::time(text, end)).transpose();
        let (starts_at, ends_at) = (time(&self.starts_at, false)?, time(&self.ends_at, true)?);
        Ok(Draft { starts_at, ends_at, all_day: self.all_day, ..draft })
    }
}

impl<'a> From<&'a Announcement> for AnnouncementRow<'a> {
    fn from(announcement: &'a Announcement) -> Self {
        Self {
            id: announcement.id,
            text: &announcement.text,
            starts_at: announcement.starts_at.map(Time::to_api),
            ends_at: announcement.ends_at.map(Time::to_api),
            all_day: announcement.all_day,
            scheduled_at: announcement.scheduled_at.map(Time::to_api),
            published_at: announcement.published_at.map(Time::to_api),
            updated_at: announcement.updated_at.to_api(),
        }
    }
}

impl AnnouncementRow<'_> {
    fn line(&self) -> String {
        let state = match (&self.published_at, &self.scheduled_at) {
            (Some(at), _) => format!("published {at}"),
            (None, Some(at)) => format!("scheduled for {at}"),
            (None, None) => "draft".to_owned(),
        };
        let opening = self.text.lines().next().unwrap_or_default();
        format!("{}  {state}  {opening}\n", self.id)
    }
}
