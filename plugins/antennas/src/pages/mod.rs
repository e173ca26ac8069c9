//! The pages on which people manage their antennas in a browser: all of them, and one with everything that it has.
//!
//! A list is a field with an entry on each line, which replaces the stored list: missing entries are removed.
//! Accounts that are suspended are marked by a word behind their address, and stay until their line is taken out.

#[cfg(test)]
mod tests;
mod words;

use rookery_plugin::pages::words::{SAVE, address};
use rookery_plugin::pages::{Collection, Field, Form, Outcome, Request, Submission, View};
use rookery_plugin::prelude::*;

use self::words::*;
use crate::antenna::{Choices, TITLE_MAX};
use crate::conditions::{Side, put, written};
use crate::fault::{Fault, Refusal};
use crate::table::{self, Stored};
use crate::terms::{Kind, Terms};
use crate::{choose, delete_own, make, own_list, sql};

/// Most lists that are offered.
const LISTS: usize = 500;
/// Longest text of a list, in characters: 100 addresses.
const TEXT_MAX: u32 = 40_000;
/// Lines of a list that are shown.
const LINES: u8 = 3;

/// The values of the choice where an antenna writes to; a list is chosen by its number.
const TO_NOWHERE: &str = "nowhere";
const TO_HOME: &str = "home";

/// The page of all.
const ALL: Collection = Collection {
    title: ANTENNAS,
    lead: LEAD,
    new: NEW,
    none: NONE,
    created: CREATED,
    deleted: DELETED,
    path: "/antennas",
    longest: TITLE_MAX,
    opens_new: true,
};

/// An account on one side of an antenna.
#[derive(Row)]
struct Member {
    excluded: bool,
    id: Id,
    username: String,
    domain: Option<String>,
    suspended: bool,
}

impl Member {
    fn address(&self) -> String {
        address(&self.username, self.domain.as_deref())
    }

    /// As the list shows it.
    fn line(&self, ctx: &Context) -> String {
        if self.suspended { format!("{} ({})", self.address(), SUSPENDED.of(ctx)) } else { self.address() }
    }
}

/// `/antennas`
#[page("antennas")]
fn antennas(ctx: &Context, _: &Request) -> Result<View> {
    let own = table::own(ctx.account())?;
    Ok(ALL.view(ctx, own.into_iter().map(|antenna| (antenna.id, antenna.title.clone(), summary(ctx, &antenna)))))
}

/// What `/antennas` sends.
#[submit("antennas")]
fn sent(ctx: &Context, _: &Request, sent: &Submission) -> Result<Outcome> {
    let make = |title| match make(ctx, &Choices { title, ..Choices::default() }) {
        Err(Refusal::Fault(fault)) => Err(Error::invalid(sentence(ctx, &fault))),
        made => Ok(made?),
    };
    ALL.submit(ctx, sent, make, |id| delete_own(ctx, id))
}

/// `/antennas/{id}`
#[page("antenna")]
fn antenna(ctx: &Context, request: &Request) -> Result<View> {
    let antenna = table::find(ctx.account(), request.id("id")?)?;
    let (terms, members) = (antenna.terms(), members(antenna.id)?);
    let view = View::new(antenna.title.clone()).form(settings(ctx, &antenna)?).text(ALL_OF.of(ctx));
    Ok([Side::Listed, Side::Excluded]
        .into_iter()
        .fold(view, |view, side| view.form(lists(ctx, side, &terms, &members))))
}

/// What `/antennas/{id}` sends.
#[submit("antenna")]
fn changed(ctx: &Context, request: &Request, sent: &Submission) -> Result<Outcome> {
    let id = request.id("id")?;
    let (faults, to) = match sent.form.as_str() {
        "settings" => (save_settings(ctx, id, sent)?, Some(ALL.path.to_owned())),
        "listed" => (save_lists(ctx, id, Side::Listed, sent)?, None),
        "excluded" => (save_lists(ctx, id, Side::Excluded, sent)?, None),
        _ => return Err(Error::NotFound),
    };
    let done = || Outcome::Done((SAVED.of(ctx).to_owned(), to));
    Ok(if faults.is_empty() { done() } else { Outcome::Invalid(faults) })
}

/// Its target and its conditions, in a line.
fn summary(ctx: &Context, antenna: &Stored) -> String {
    let entity = antenna.entity();
    let place = match &entity.list {
        Some(list) => LIST.of(ctx).replace("{}", &list.title),
        None if entity.insert_feeds => HOME.of(ctx).to_owned(),
        None => NOWHERE.of(ctx).to_owned(),
    };
    let mut parts = vec![place];
    if entity.stl {
        parts.push(SOCIAL.of(ctx).to_owned());
    } else if entity.ltl {
        parts.push(LOCAL.of(ctx).to_owned());
    } else {
        let counts = [
            (ACCOUNTS, u64::try_from(entity.accounts_count).unwrap_or_default()),
            (DOMAINS, entity.domains_count as u64),
            (TAGS, entity.tags_count as u64),
            (KEYWORDS, entity.keywords_count as u64),
        ];
        parts.extend(counts.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| counted(ctx, what, count)));
    }
    parts.join(" · ")
}

fn settings(ctx: &Context, antenna: &Stored) -> Result<Form> {
    let lists: Vec<(i64, String)> = sql::own_lists(ctx.account(), LISTS).all()?;
    let fixed = [(TO_NOWHERE.to_owned(), NOWHERE.of(ctx).to_owned()), (TO_HOME.to_owned(), HOME.of(ctx).to_owned())];
    let lists = lists.into_iter().map(|(id, title)| (id.to_string(), LIST.of(ctx).replace("{}", &title)));
    let place = match (antenna.insert_feeds, antenna.list_id) {
        (false, _) => TO_NOWHERE.to_owned(),
        (true, 0) => TO_HOME.to_owned(),
        (true, list) => list.to_string(),
    };
    let places = fixed.into_iter().chain(lists);
    let place = Field::choice("place", PLACE.of(ctx), places).required().hint(PLACE_HINT.of(ctx)).value(place);
    Ok(Form::new("settings", SAVE.of(ctx))
        .titled(SETTINGS.of(ctx))
        .field(ALL.named(ctx, &antenna.title))
        .field(place)
        .field(Field::flag("stl", SOCIAL.of(ctx)).hint(SOCIAL_HINT.of(ctx)).value(antenna.stl))
        .field(Field::flag("ltl", LOCAL.of(ctx)).hint(LOCAL_HINT.of(ctx)).value(antenna.ltl))
        .field(Field::flag("with_media_only", MEDIA.of(ctx)).value(antenna.with_media_only))
        .field(Field::flag("ignore_reblog", NO_REBLOGS.of(ctx)).value(antenna.ignore_reblog)))
}

/// Saves the settings; returns faults by field.
fn save_settings(ctx: &Context, id: Id, sent: &Submission) -> Result<Vec<(String, String)>> {
    let saved = choose(ctx, id, |old| {
        let (insert_feeds, list_id) = match sent.text("place") {
            TO_NOWHERE => (false, old.list_id),
            TO_HOME => (true, 0),
            list => (true, own_list(ctx, list)?),
        };
        Ok(Choices {
            title: sent.text("title").to_owned(),
            list_id,
            insert_feeds,
            stl: sent.flag("stl"),
            ltl: sent.flag("ltl"),
            with_media_only: sent.flag("with_media_only"),
            ignore_reblog: sent.flag("ignore_reblog"),
        })
    });
    faults(ctx, saved)
}

fn lists(ctx: &Context, side: Side, terms: &Terms, members: &[Member]) -> Form {
    let own = members.iter().filter(|member| member.excluded == side.excluded());
    let own: Vec<String> = own.map(|member| member.line(ctx)).collect();
    let accounts = Field::lines("accounts", ACCOUNTS.of(ctx), TEXT_MAX, LINES).hint(accounts_hint(ctx));
    let name = if side.excluded() { "excluded" } else { "listed" };
    let form = Form::new(name, SAVE.of(ctx)).titled(heading(side).of(ctx)).field(accounts.value(own.join("\n")));
    kinds(side).into_iter().fold(form, |form, kind| {
        let field = Field::lines(kind.parameter(), label(kind).of(ctx), TEXT_MAX, LINES);
        form.field(field.hint(hint(ctx, kind)).value(terms.of(kind).join("\n")))
    })
}

const fn kinds(side: Side) -> [Kind; 3] {
    match side {
        Side::Listed => [Kind::Domains, Kind::Tags, Kind::Keywords],
        Side::Excluded => [Kind::ExcludeDomains, Kind::ExcludeTags, Kind::ExcludeKeywords],
    }
}

/// Saves the lists of a side; returns faults by field.
fn save_lists(ctx: &Context, id: Id, side: Side, sent: &Submission) -> Result<Vec<(String, String)>> {
    let version = table::next_version()?;
    let mut terms = table::find(ctx.account(), id)?.terms();
    // What goes makes room for what comes.
    kinds(side).into_iter().for_each(|kind| terms.clear(kind));
    let mut wrong = Vec::new();
    for kind in kinds(side) {
        let set = written(kind, entries(kind, sent.text(kind.parameter()))).and_then(|list| Ok(terms.set(kind, list)?));
        wrong.extend(faults(ctx, set)?);
    }
    if wrong.is_empty() {
        sql::set_terms(id, terms.kept(), version).exec()?;
    }
    wrong.extend(save_accounts(ctx, id, side, sent.text("accounts"))?);
    Ok(wrong)
}

/// Sets the accounts of a side; returns faults by field.
fn save_accounts(ctx: &Context, id: Id, side: Side, text: &str) -> Result<Vec<(String, String)>> {
    // A word after an address is a mark of the account.
    let addresses = lines(text).filter_map(|line| line.split_whitespace().next());
    let mut wanted: Vec<String> = addresses.map(|address| address.trim_start_matches('@').to_owned()).collect();
    let wrong = |why| Ok(vec![("accounts".to_owned(), why)]);
    // More are refused below; so many are not looked up.
    if wanted.len() > 2 * crate::antenna::MOST_ACCOUNTS {
        return wrong(sentence(ctx, &Fault::ManyAccounts));
    }
    let own: Vec<Member> = members(id)?.into_iter().filter(|member| member.excluded == side.excluded()).collect();
    let mut kept = Vec::new();
    // Of one that is suspended nothing may be known by its name.
    wanted.retain(|acct| {
        let member = own.iter().find(|member| member.suspended && member.address().trim_start_matches('@') == acct);
        kept.extend(member.map(|member| member.id.0));
        member.is_none()
    });
    let found = core::accounts_by_acct(&wanted)?;
    if let Some(unknown) = wanted.iter().zip(&found).find(|(_, account)| account.is_none()).map(|(acct, _)| acct) {
        return wrong(words::unknown(ctx, unknown));
    }
    let mut wanted: Vec<i64> = found.into_iter().flatten().map(|account| account.id).chain(kept).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let shown: Vec<i64> = own.iter().map(|member| member.id.0).collect();
    let gone: Vec<i64> = shown.iter().copied().filter(|account| !wanted.contains(account)).collect();
    wanted.retain(|account| !shown.contains(account));
    if !gone.is_empty() {
        sql::remove_members(id, side.excluded(), gone).exec()?;
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    faults(ctx, put(id, side, &wanted))
}

/// Those on both sides.
fn members(id: Id) -> Result<Vec<Member>> {
    sql::named_members(id).all()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// The entries of a list. Words may have spaces in them, the others need no line of their own.
fn entries(kind: Kind, text: &str) -> Vec<String> {
    match kind {
        Kind::Keywords | Kind::ExcludeKeywords => lines(text).map(str::to_owned).collect(),
        Kind::Domains | Kind::ExcludeDomains => text.split_whitespace().map(str::to_owned).collect(),
        Kind::Tags | Kind::ExcludeTags => {
            text.split_whitespace().map(|tag| tag.trim_start_matches(['#', '＃']).to_owned()).collect()
        }
    }
}

/// None after success; otherwise the faults with their fields.
///
/// # Errors
/// All that is no fault.
fn faults<T>(ctx: &Context, done: Result<T, Refusal>) -> Result<Vec<(String, String)>> {
    let fault = match done {
        Ok(_) => return Ok(Vec::new()),
        Err(Refusal::Other(error)) => return Err(error),
        Err(Refusal::Fault(fault)) => fault,
    };
    let field = match &fault {
        Fault::TitleBlank | Fault::TitleLong => "title",
        Fault::SocialTaken => "stl",
        Fault::LocalTaken => "ltl",
        Fault::NoList => "place",
        Fault::Short(kind)
        | Fault::Long(kind)
        | Fault::Twice(kind, _)
        | Fault::Many(kind)
        | Fault::Unwritable(kind) => kind.parameter(),
        Fault::AccountTwice | Fault::ManyAccounts => "accounts",
        Fault::ManyAntennas | Fault::Full => "",
    };
    Ok(vec![(field.to_owned(), sentence(ctx, &fault))])
}
