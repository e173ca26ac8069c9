//! `rookery plugin pack`: packs a plugin into one file for a server's plugin folder, and signs it.

use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use super::project::Project;
use super::{check, sign, strip};
use plugin_package::Package;
use plugin_package::package::{Origin, unpack};
use plugins::install::fetch::beside as signature_of;
use terminal::{Failure, Output};

/// Writes `NAME-VERSION.plugin`, a tar archive with the component's checksum in its manifest, and without debug information.
/// The output is reproducible: the same package gives the same bytes. With a key, `NAME-VERSION.plugin.minisig` is its
/// signature; one that lies there of an earlier file is deleted.
pub(crate) async fn run(project: &Project, key: Option<&Path>, output: Output) -> Result<(), Failure> {
    let mut package = project.package()?;
    package.wasm = strip::without_debug_information(&package.wasm).into();
    package.sha256 = crypto::sha256_hex(&package.wasm);
    let name = format!("{}-{}.plugin", package.name(), package.manifest.plugin.version);
    let bytes = pack(&package)?;
    // Never publish a file that a server would not load.
    let read = unpack(&bytes, Origin::File(Path::new(&name).to_path_buf())).map_err(Failure::new)?;
    check::load(project, &read).await?;
    let beside = project.folder.join(format!(".{name}"));
    let mut file = std::fs::File::create(&beside).map_err(Failure::new)?;
    file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(Failure::new)?;
    let path = project.folder.join(&name);
    // A signature of another file is worse than none.
    let _ = std::fs::remove_file(signature_of(&path));
    std::fs::rename(&beside, &path).map_err(Failure::new)?;
    let shown = sign::shown(&path);
    let signed = sign::key_file(key).map(|key| sign::sign(&path, &bytes, &key)).transpose()?;
    let beside: Vec<&str> = package.files.keys().map(String::as_str).filter(|path| *path != "plugin.toml").collect();
    let left_out = project.left_out()?;
    let mut answer = json!({
        "file": shown, "bytes": bytes.len(), "sha256": read.sha256, "digest": read.digest, "files": beside,
        "left_out": left_out,
    });
    for (member, value) in signed.iter().flat_map(|signed| signed.as_object().into_iter().flatten()) {
        answer[member] = value.clone();
    }
    output.respond(&answer, || {
        let signed = match &signed {
            Some(signed) => format!("\n{}", sign::words(signed)),
            None => "\n  not signed: servers take it from a file alone; `--key FILE` or `rookery plugin sign` signs it"
                .to_owned(),
        };
        let size = bytes.len() / 1024;
        let beside = if beside.is_empty() { String::new() } else { format!("\n  files     {}", beside.join(", ")) };
        let left = match left_out.as_slice() {
            [] => String::new(),
            left => format!("\n  left out  {} (build.include takes them)", left.join(", ")),
        };
        format!("{shown}: {size} KiB\n  component {}\n  package   {}{beside}{left}{signed}", read.sha256, read.digest)
    })
}

fn pack(package: &Package) -> Result<Vec<u8>, Failure> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, bytes) in &package.files {
        if path == "plugin.toml" {
            add(&mut archive, path, with_sum(package)?.as_bytes())?;
        } else {
            add(&mut archive, path, bytes)?;
        }
    }
    add(&mut archive, &package.manifest.plugin.wasm, &package.wasm)?;
    archive.into_inner().map_err(Failure::new)
}

fn add(archive: &mut tar::Builder<Vec<u8>>, path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(0);
    archive.append_data(&mut header, path, bytes).map_err(Failure::new)
}

/// The manifest with `sha256` after `wasm`; everything else stays as the author wrote it.
fn with_sum(package: &Package) -> Result<String, Failure> {
    let text = package.text("plugin.toml").map_err(Failure::new)?;
    let mut lines: Vec<String> = text.lines().filter(|line| !is_key(line, "sha256")).map(str::to_owned).collect();
    let place =
        lines.iter().position(|line| is_key(line, "wasm")).ok_or_else(|| Failure::new("plugin.toml names no wasm"))?;
    lines.insert(place + 1, format!("sha256 = \"{}\"", package.sha256));
    Ok(lines.join("\n") + "\n")
}

fn is_key(line: &str, key: &str) -> bool {
    line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
}
