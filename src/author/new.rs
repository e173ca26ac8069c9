//! `rookery plugin new`: creates a small working plugin with tests from a template.

use std::path::Path;

use serde_json::json;

use config::executable;
use terminal::{Failure, Output};

include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// Source of the SDK crate when there is no local checkout of the server: the registry.
const SDK_SOURCE: &str = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");

/// Writes the files of the language's template to the folder `name`.
pub(crate) fn run(name: &str, language: &str, output: Output) -> Result<(), Failure> {
    check_name(name)?;
    let Some((_, files)) = TEMPLATES.iter().find(|(known, _)| *known == language) else {
        let known: Vec<&str> = TEMPLATES.iter().map(|(known, _)| *known).collect();
        return Err(Failure::usage(format!("there is no template for {language:?}: there are {}", known.join(", "))));
    };
    let folder = Path::new(name);
    if folder.exists() {
        return Err(Failure::usage(format!("{name} exists already: choose another name or remove it")));
    }
    for (path, text) in *files {
        let path = folder.join(fill(path, name));
        std::fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(Failure::new)?;
        std::fs::write(&path, fill(text, name))
            .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    if language == "rust" && sdk() == SDK_SOURCE {
        output.warn(&format!(
            "Cargo.toml takes the crate rookery-plugin {} from its registry: until it is published there, run this with the \
             program of a checkout of the server, or name plugin-sdk/rust of one as its path",
            env!("CARGO_PKG_VERSION")
        ));
    }
    let packages = if language == "typescript" { "npm install\n" } else { "" };
    let next = format!("cd {name}\n{packages}rookery plugin build\nrookery plugin test\nrookery plugin dev");
    output
        .respond(&json!({ "folder": name, "language": language }), || format!("{name} is begun. Go on with:\n\n{next}"))
}

fn check_name(name: &str) -> Result<(), Failure> {
    let fits = (2..=31).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if fits {
        Ok(())
    } else {
        Err(Failure::usage(format!("{name:?} is no name of a plugin: use a-z, 0-9 and _, at most 31")))
    }
}

/// Fills in the placeholders `{{name}}`, `{{Name}}` (as a type), `{{title}}` and `{{sdk}}` (the crate's source).
fn fill(text: &str, name: &str) -> String {
    let words = || name.split('_').filter(|word| !word.is_empty());
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    let (camel, title) = (words().map(capital).collect::<String>(), words().map(capital).collect::<Vec<_>>().join(" "));
    text.replace("{{name}}", name).replace("{{Name}}", &camel).replace("{{title}}", &title).replace("{{sdk}}", &sdk())
}

/// The SDK crate's source: the checkout that contains this binary or the current folder, else the repository.
fn sdk() -> String {
    let places = [executable(), std::env::current_dir()];
    let above =
        places.into_iter().flatten().flat_map(|place| place.ancestors().map(Path::to_path_buf).collect::<Vec<_>>());
    let mut found =
        above.map(|folder| folder.join("plugin-sdk/rust")).filter(|folder| folder.join("Cargo.toml").exists());
    found.next().map_or_else(|| SDK_SOURCE.to_owned(), |folder| format!("path = {:?}", folder.display().to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use plugin_package::manifest;

    #[test]
    fn every_template_is_a_plugin_in_its_language() {
        assert_eq!(
            TEMPLATES.iter().map(|(language, _)| *language).collect::<Vec<_>>(),
            ["c", "go", "python", "rust", "typescript"]
        );
        for (language, files) in TEMPLATES {
            let files: BTreeMap<String, String> =
                files.iter().map(|(path, text)| (fill(path, "emoji_deck"), fill(text, "emoji_deck"))).collect();
            let manifest = manifest::parse(&files["plugin.toml"]).unwrap();
            assert_eq!(manifest.build.unwrap().language.as_deref(), Some(*language));
            for file in [".gitignore", "sql/queries.sql", "migrations/0001_items.sql", "tests/emoji_deck.toml"] {
                assert!(files.contains_key(file), "{language}: {file}");
            }
            let left = files.iter().find(|(path, text)| path.contains("{{") || text.contains("{{"));
            assert!(left.is_none(), "{language}: {left:?}");
        }
    }

    #[test]
    fn template_is_filled_with_every_form_of_name() {
        assert_eq!(fill("{{name}} {{Name}} {{title}}", "emoji_deck2"), "emoji_deck2 EmojiDeck2 Emoji Deck2");
        assert!(check_name("Deck").is_err() && check_name("a-b").is_err() && check_name("deck").is_ok());
    }
}
