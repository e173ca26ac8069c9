//! `rookery email-block list|add|test|remove`: domains and e-mail addresses that cannot be used to sign up.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use model::{Cursor, RowId, Staff};
use service::email_block;
use store::email_block::{CanonicalEmailBlock, EmailDomainBlock};
use terminal::{Failure, Output};

/// Blocks read at a time.
const PAGE: i64 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the blocked domains, and the hashes of the blocked addresses
    List,
    /// Block the addresses of a domain and its subdomains, or one address in all its spellings
    Add {
        /// The domain, the address, or the hash of an address
        #[arg(value_name = "DOMAIN|ADDRESS|HASH")]
        what: String,
        /// For a domain: a moderator decides about each sign-up, instead of none being possible
        #[arg(long)]
        allow_with_approval: bool,
    },
    /// Show whether an address is blocked itself; the block of its domain is in the list
    Test {
        /// The address
        address: String,
    },
    /// Remove the block of a domain or of an address
    Remove {
        /// The domain, the address, or the hash of an address
        #[arg(value_name = "DOMAIN|ADDRESS|HASH")]
        what: String,
    },
}

/// What a block is about.
#[derive(Clone, Copy, Debug)]
enum What<'a> {
    Domain(&'a str),
    Address(&'a str),
    Hash(&'a str),
}

impl<'a> What<'a> {
    fn of(text: &'a str) -> Self {
        let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text {
            _ if is_hash => Self::Hash(text),
            _ if text.contains('@') => Self::Address(text),
            _ => Self::Domain(text),
        }
    }
}

/// An entry of the list.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Entry {
    Domain(Domain),
    Address(Address),
}

#[derive(Serialize)]
struct Domain {
    id: RowId,
    domain: String,
    allow_with_approval: bool,
    created_at: String,
}

#[derive(Serialize)]
struct Address {
    id: RowId,
    canonical_email_hash: String,
    created_at: String,
}

#[derive(Serialize)]
struct Tested {
    blocked: bool,
    canonical_email_hash: String,
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
            output.list(&blocks, "No address is blocked.", Entry::line)
        }
        Command::Add { what, allow_with_approval } => match What::of(&what) {
            What::Domain(domain) => {
                let block = Domain::from(email_block::create_domain(cx, &staff, domain, allow_with_approval).await?);
                let effect = if block.allow_with_approval { "need approval" } else { "cannot sign up" };
                output.respond(&block, || format!("Addresses of {} {effect} now.", block.domain))
            }
            What::Address(_) | What::Hash(_) if allow_with_approval => {
                Err(Failure::usage("--allow-with-approval is for domains"))
            }
            What::Address(address) => add_address(cx, &staff, Some(address), None, output).await,
            What::Hash(hash) => add_address(cx, &staff, None, Some(hash), output).await,
        },
        Command::Test { address } => {
            let blocked = email_block::test_address(cx, &address).await?.is_some();
            let answer = Tested { blocked, canonical_email_hash: email_block::canonical_hash(&address) };
            let state = if blocked { "blocked" } else { "not blocked" };
            output.respond(&answer, || format!("This address is {state}."))
        }
        Command::Remove { what } => {
            let removed = remove(cx, &staff, &what).await?;
            let done = Removed { removed };
            output.respond(&done, || format!("{} is no longer blocked.", done.removed))
        }
    }
}

async fn add_address(
    cx: &Cx,
    staff: &Staff,
    address: Option<&str>,
    hash: Option<&str>,
    output: Output,
) -> Result<(), Failure> {
    let block = Address::from(email_block::create_address(cx, staff, address, hash).await?);
    output.respond(&block, || format!("The address with the hash {} is blocked now.", block.canonical_email_hash))
}

/// Returns the domain, or the hash of the address.
async fn remove(cx: &Cx, staff: &Staff, what: &str) -> Result<String, Failure> {
    let found = match What::of(what) {
        What::Domain(domain) => {
            let block = email_block::find_domain_by_name(cx, domain).await?;
            email_block::delete_domain(cx, staff, block.id).await?;
            return Ok(block.domain);
        }
        What::Address(address) => email_block::test_address(cx, address).await?,
        What::Hash(hash) => email_block::find_by_hash(cx, hash).await?,
    };
    let block = found.ok_or_else(|| Failure::new("this address is not blocked"))?;
    email_block::delete_address(cx, staff, block.id).await?;
    Ok(block.canonical_email_hash)
}

/// All blocks, newest first.
async fn list(cx: &Cx) -> Result<Vec<Entry>, Failure> {
    let mut blocks = Vec::new();
    let mut cursor = Cursor::first(PAGE);
    while let page = email_block::list_domains(cx, &cursor).await?
        && let Some(last) = page.last()
    {
        cursor.max_id = Some(last.id.into());
        blocks.extend(page.into_iter().map(|block| Entry::Domain(block.into())));
    }
    let mut cursor = Cursor::first(PAGE);
    while let page = email_block::list_addresses(cx, &cursor).await?
        && let Some(last) = page.last()
    {
        cursor.max_id = Some(last.id.into());
        blocks.extend(page.into_iter().map(|block| Entry::Address(block.into())));
    }
    Ok(blocks)
}

impl Entry {
    fn line(&self) -> String {
        match self {
            Self::Domain(block) => {
                let effect = if block.allow_with_approval { "needs approval" } else { "blocked" };
                format!("{effect:<14} {}", block.domain)
            }
            Self::Address(block) => format!("{:<14} {}", "address", block.canonical_email_hash),
        }
    }
}

impl From<EmailDomainBlock> for Domain {
    fn from(block: EmailDomainBlock) -> Self {
        Self {
            id: block.id,
            domain: block.domain,
            allow_with_approval: block.allow_with_approval,
            created_at: block.created_at.to_api(),
        }
    }
}

impl From<CanonicalEmailBlock> for Address {
    fn from(block: CanonicalEmailBlock) -> Self {
        Self { id: block.id, canonical_email_hash: block.canonical_email_hash, created_at: block.created_at.to_api() }
    }
}
