//! `rookery plugin index`: the index of a folder of packages, for any server of static files, signed if there is a key.

use std::io::Write as _;
use std::path::Path;

use plugin_package::index::{Entry, FILE, Index};
use plugin_package::package::read_bounded;
use plugins::install::fetch::beside;
use terminal::{Failure, Output};

use crate::sign;

/// Writes `index.json` for the packages of `folder` and their signatures, and signs it with `key` or the key of the
/// environment. The same files give the same index.
pub(crate) fn run(folder: &Path, key: Option<&Path>, output: Output) -> Result<(), Failure> {
    let mut entries: Vec<Entry> = Vec::new();
    for found in std::fs::read_dir(folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))? {
        let path = found.map_err(Failure::new)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.starts_with('.') || path.extension().is_none_or(|ending| ending != "plugin") {
            continue;
        }
        let entry = entry(&path, name)?;
        if entry.signature.is_none() {
            output.warn(&format!("{name} is not signed: servers refuse it without --unsigned"));
        }
        entries.push(entry);
    }
    let index = Index::new(entries);
    let twice = |pair: &[Entry]| (&pair[0].name, &pair[0].version) == (&pair[1].name, &pair[1].version);
    if let Some(pair) = index.packages.windows(2).find(|pair| twice(pair)) {
        let (first, other) = (&pair[0], &pair[1]);
        let (name, version) = (&first.name, &first.version);
        return Err(Failure::new(format!("{} and {} both hold {name} {version}: remove one", first.file, other.file)));
    }
    let text = serde_json::to_string_pretty(&index).map_err(Failure::new)? + "\n";
    let partial = folder.join(format!(".{FILE}"));
    let mut file = std::fs::File::create(&partial).map_err(Failure::new)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(Failure::new)?;
    let path = folder.join(FILE);
    // No signature of an earlier one stays beside it.
    match std::fs::remove_file(beside(&path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Failure::new(error)),
        _ => {}
    }
    std::fs::rename(&partial, &path).map_err(Failure::new)?;
    let signed = sign::key_file(key).map(|key| sign::sign(&path, text.as_bytes(), &key)).transpose()?;
    let signed = signed.map(|signed| format!("{}\n", sign::words(&signed))).unwrap_or_default();
    output.respond(&index, || {
        let lines = index.packages.iter().map(|entry| {
            let key = entry.key.as_deref().unwrap_or("no key that the signature names");
            format!("{} {}: {key}\n", entry.name, entry.version)
        });
        let (lines, count) = (lines.collect::<String>(), index.packages.len());
        format!(
            "{lines}{signed}{} lists {count} package{}: a web server may serve the folder.\n",
            sign::shown(&folder.join(FILE)),
            if count == 1 { "" } else { "s" }
        )
    })
}

fn entry(path: &Path, name: &str) -> Result<Entry, Failure> {
    let bytes = read_bounded(path).map_err(|error| Failure::new(format!("{name}: {error}")))?;
    let signature = match std::fs::read_to_string(beside(path)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        text => Some(text.map_err(|error| Failure::new(format!("the signature of {name}: {error}")))?),
    };
    Entry::new(name, &bytes, signature.as_deref()).map_err(Failure::new)
}
