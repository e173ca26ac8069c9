//! `rookery username-block list|add|test|remove`: user names that cannot be used to sign up.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use entity::admin::UsernameBlock;
use model::username_block::UsernameComparison;
use model::{Cursor, Staff};
use service::username_block::{self, Judgement};
use terminal::{Failure, Output};

/// Blocks read at a time.
const PAGE: i64 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the blocked names
    List,
    /// Block a user name and names that look like it, such as adm1n for admin
    Add {
        /// At most 30 letters, digits and underscores
        name: String,
        /// Block every name that contains it, too
        #[arg(long)]
        contains: bool,
        /// A moderator decides about each sign-up, instead of none being possible
        #[arg(long)]
        allow_with_approval: bool,
    },
    /// Show whether someone may sign up with a name
    Test {
        /// The name
        name: String,
    },
    /// Remove a block
    Remove {
        /// The blocked name, or one that looks like it
        name: String,
    },
}

#[derive(Serialize)]
struct Tested<'a> {
    username: &'a str,
    blocked: bool,
    needs_approval: bool,
}

#[derive(Serialize)]
struct Removed {
    removed: String,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let staff = Staff::operator();
    match command {
        Command::List => {
            let blocks = list(cx).await?;
            output.list(&blocks, "No user name is blocked.", line)
        }
        Command::Add { name, contains, allow_with_approval } => {
            let comparison = if contains { UsernameComparison::Contains } else { UsernameComparison::Equals };
            let block = username_block::create(cx, &staff, &name, comparison, allow_with_approval).await?;
            let block = UsernameBlock::from(block);
            let effect = if allow_with_approval { "need approval" } else { "cannot sign up" };
            output.respond(&block, || format!("Names like {} {effect} now.", block.username))
        }
        Command::Test { name } => {
            let judgement = username_block::judge(cx, &name).await?;
            let tested = Tested {
                username: &name,
                blocked: judgement == Judgement::Blocked,
                needs_approval: judgement == Judgement::NeedsApproval,
            };
            let state = match judgement {
                Judgement::Accepted => "is not blocked",
                Judgement::NeedsApproval => "needs approval",
                Judgement::Blocked => "is blocked",
            };
            output.respond(&tested, || format!("{name} {state}."))
        }
        Command::Remove { name } => {
            let block = username_block::find_by_name(cx, &name).await?;
            username_block::delete(cx, &staff, block.id).await?;
            let done = Removed { removed: block.username };
            output.respond(&done, || format!("{} is no longer blocked.", done.removed))
        }
    }
}

/// All blocks, newest first.
async fn list(cx: &Cx) -> Result<Vec<UsernameBlock>, Failure> {
    let mut blocks = Vec::new();
    let mut cursor = Cursor::first(PAGE);
    while let page = username_block::list(cx, &cursor).await?
        && let Some(last) = page.last()
    {
        cursor.max_id = Some(last.id.into());
        blocks.extend(page.into_iter().map(UsernameBlock::from));
    }
    Ok(blocks)
}

fn line(block: &UsernameBlock) -> String {
    let effect = if block.allow_with_approval { "needs approval" } else { "blocked" };
    let star = if block.comparison == UsernameComparison::Contains { "*" } else { "" };
    format!("{effect:<14} {star}{}{star}", block.username)
}
