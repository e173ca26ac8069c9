//! `rookery emoji list|import|copy|remove`: manages this server's custom emojis.

use std::fs;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use context::Cx;
use model::Staff;
use service::emoji::{self, Import, ImportOutcome};
use terminal::{Failure, Output};

/// File extensions that are imported; the image type itself is detected from the content.
const EXTENSIONS: [&str; 5] = ["png", "gif", "webp", "jpg", "jpeg"];

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the emojis, by category and shortcode
    List,
    /// Import a folder of images named by shortcode; subfolders become categories
    Import(Arguments),
    /// Copy an emoji of another server, which fetched posts or profiles have shown here
    Copy {
        /// SHORTCODE@DOMAIN
        emoji: String,
        /// Its shortcode here
        #[arg(long = "as", value_name = "SHORTCODE")]
        name: Option<String>,
        #[arg(long)]
        category: Option<String>,
        /// Replace an existing emoji with the same shortcode
        #[arg(long)]
        overwrite: bool,
    },
    /// Remove an emoji
    Remove {
        /// Its shortcode, without colons
        shortcode: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A folder, or a single image
    path: PathBuf,
    /// Category for all images
    #[arg(long)]
    category: Option<String>,
    /// Prefix for every shortcode
    #[arg(long, default_value = "")]
    prefix: String,
    /// Replace existing emojis with the same shortcode
    #[arg(long)]
    overwrite: bool,
}

#[derive(Serialize)]
struct Listed<'a> {
    shortcode: &'a str,
    category: Option<&'a str>,
    visible_in_picker: bool,
    url: Option<String>,
}

#[derive(Serialize)]
struct Removed<'a> {
    shortcode: &'a str,
}

#[derive(Serialize)]
struct Copied<'a> {
    shortcode: &'a str,
    /// `added`, `replaced` or `kept`.
    outcome: &'a str,
}

#[derive(Default, Serialize)]
struct ImportReport {
    added: usize,
    replaced: usize,
    kept: usize,
    failed: Vec<FailedImport>,
}

#[derive(Serialize)]
struct FailedImport {
    file: String,
    error: String,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List => list(cx, output),
        Command::Import(arguments) => import_all(cx, &arguments, output).await,
        Command::Copy { emoji, name, category, overwrite } => {
            let parts = emoji.trim_matches([':', '@']).split_once('@');
            let (shortcode, domain) = parts.ok_or_else(|| Failure::new("write SHORTCODE@DOMAIN"))?;
            let new = Import {
                shortcode: name.unwrap_or_else(|| shortcode.to_owned()),
                category,
                image: Vec::new(),
                overwrite,
            };
            let here = new.shortcode.clone();
            let outcome = emoji::copy(cx, &Staff::operator(), shortcode, domain, new).await?;
            let word = match outcome {
                ImportOutcome::Added => "added",
                ImportOutcome::Replaced => "replaced",
                ImportOutcome::Skipped => "kept",
            };
            output.respond(&Copied { shortcode: &here, outcome: word }, || format!("{here}: {word}."))
        }
        Command::Remove { shortcode } => {
            emoji::remove(cx, &Staff::operator(), &shortcode).await?;
            output.respond(&Removed { shortcode: &shortcode }, || format!("{shortcode} is gone."))
        }
    }
}

fn list(cx: &Cx, output: Output) -> Result<(), Failure> {
    let emojis = cx.emojis();
    let mut rows: Vec<Listed<'_>> = emojis
        .by_shortcode
        .values()
        .map(|emoji| Listed {
            shortcode: &emoji.shortcode,
            category: emoji.category.as_deref(),
            visible_in_picker: emoji.visible_in_picker,
            url: emoji.file.as_ref().map(|file| cx.urls.media(file)),
        })
        .collect();
    rows.sort_by_key(|row| (row.category, row.shortcode));
    output.list(&rows, "There is no emoji.", |row| {
        format!("{:<32} {}", format!(":{}:", row.shortcode), row.category.unwrap_or_default()).trim_end().to_owned()
    })
}

async fn import_all(cx: &Cx, arguments: &Arguments, output: Output) -> Result<(), Failure> {
    let files = files(&arguments.path, arguments.category.as_deref())?;
    if files.is_empty() {
        return Err(Failure::new(format!("there is no image in {}", arguments.path.display())));
    }
    let mut imported = ImportReport::default();
    for (index, (file, category)) in files.iter().enumerate() {
        progress(index, files.len());
        match import(cx, file, category.clone(), arguments).await {
            Ok(ImportOutcome::Added) => imported.added += 1,
            Ok(ImportOutcome::Replaced) => imported.replaced += 1,
            Ok(ImportOutcome::Skipped) => imported.kept += 1,
            Err(failure) => {
                imported
                    .failed
                    .push(FailedImport { file: file.display().to_string(), error: failure.text().to_owned() });
            }
        }
    }
    progress(files.len(), files.len());
    output.respond(&imported, || imported.words())?;
    if imported.failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("{} of {} images were refused", imported.failed.len(), files.len())))
}

async fn import(
    cx: &Cx,
    file: &Path,
    category: Option<String>,
    arguments: &Arguments,
) -> Result<ImportOutcome, Failure> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let image = fs::read(file).map_err(Failure::new)?;
    let new =
        Import { shortcode: format!("{}{stem}", arguments.prefix), category, image, overwrite: arguments.overwrite };
    Ok(emoji::import(cx, &Staff::operator(), new).await?)
}

/// The images in `path` with their categories, from the folder itself and one level of subfolders.
fn files(path: &Path, category: Option<&str>) -> Result<Vec<(PathBuf, Option<String>)>, Failure> {
    let unreadable = |error| Failure::new(format!("{}: {error}", path.display()));
    if fs::metadata(path).map_err(unreadable)?.is_file() {
        return Ok(vec![(path.to_owned(), category.map(str::to_owned))]);
    }
    let mut found = Vec::new();
    for entry in sorted(path)? {
        if entry.is_dir() {
            let own = category.map(str::to_owned).or_else(|| Some(entry.file_name()?.to_string_lossy().into_owned()));
            let images = sorted(&entry)?.into_iter().filter(|file| is_image(file));
            found.extend(images.map(|file| (file, own.clone())));
        } else if is_image(&entry) {
            found.push((entry, category.map(str::to_owned)));
        }
    }
    Ok(found)
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::new(format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

fn is_image(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    file.is_file() && EXTENSIONS.contains(&extension.as_str())
}

/// Prints progress when standard error is a terminal.
fn progress(done: usize, all: usize) {
    if stderr().is_terminal() {
        let end = if done == all { "\n" } else { "" };
        let _ = write!(stderr(), "\r{done} of {all}{end}");
    }
}

impl ImportReport {
    fn words(&self) -> String {
        let failed = self.failed.iter().map(|failed| format!("{}: {}\n", failed.file, failed.error));
        let counts = format!("{} added, {} replaced, {} kept as they were.", self.added, self.replaced, self.kept);
        failed.collect::<String>() + &counts
    }
}
