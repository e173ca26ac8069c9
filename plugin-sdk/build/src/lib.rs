//! Builds plugins in any language: turns the output of a compiler into a component of Rookery's contract.
//!
//! Used by `rookery plugin build`. [`World`] is the WIT world of one plugin, with the interfaces that its manifest asks
//! for; [`World::bindings`] generates bindings for languages whose own tools do not (C, Go), and [`World::component`]
//! wraps a core module in a component. Rust needs only the WIT, Python and TypeScript the SDK's modules as well: their tools
//! make components themselves. [`Build`] runs the author's build command between these steps. Does not parse manifests.

mod python;
mod run;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use wit_bindgen_core::{Files, WorldGenerator};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId, WorldItem};

pub use run::Build;

/// The WIT of the contract.
pub const CONTRACT: &str = include_str!("../../wit/0.1/plugin.wit");
/// `rookery.h`, which a plugin in C includes in addition to its bindings.
pub const C_HEADER: &str = include_str!("../../c/rookery.h");
/// A stub of WASI for Go, linked into the component as an adapter.
const GO_WASI: &str = include_str!("../../go/wasi.wat");
/// The Go module that the generated bindings depend on: path and text of each file.
const GO_MODULE: &[(&str, &str)] = &[
    ("go.mod", include_str!("../../go/go.mod")),
    ("wit/types/types.go", include_str!("../../go/wit/types/types.go")),
    ("wit/runtime/runtime.go", include_str!("../../go/wit/runtime/runtime.go")),
];

/// The module of the Python SDK.
const PYTHON: &str = include_str!("../../python/rookery.py");

/// The modules of the TypeScript SDK, and what builds a plugin: name and text of each.
const TYPESCRIPT: &[(&str, &str)] = &[
    ("rookery.ts", include_str!("../../typescript/rookery.ts")),
    ("sql.ts", include_str!("../../typescript/sql.ts")),
    ("build.mjs", include_str!("../../typescript/build.mjs")),
];

/// What has the panics of a plugin in Go logged with their place.
const GO_REPORTING: &str = include_str!("../../go/reporting/reporting.go");

/// Why a build failed, in one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    fn at(what: &str) -> impl FnOnce(Box<dyn std::error::Error + Send + Sync>) -> Self + '_ {
        move |error| Self(format!("{what}: {error}"))
    }
}

/// The result of a build step.
pub type Result<T> = std::result::Result<T, Error>;

/// A language for which files are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `plugin.h` and `plugin.c`, and `rookery.h`.
    C,
    /// A Go module `wit_component`, whose package `plugin` holds the author's files.
    Go,
    /// `rookery.py`; componentize-py makes the component.
    Python,
    /// `rookery.ts`, `sql.ts` and `build.mjs`; TypeScript's own tools make the bindings and the component.
    TypeScript,
}

/// The interfaces that one plugin imports and exports, by their names in the contract.
#[derive(Debug)]
pub struct World {
    text: String,
    resolve: Resolve,
    id: WorldId,
}

impl World {
    /// The world of a plugin, from the names of interfaces: `sql`, `routes`.
    ///
    /// # Errors
    /// When the contract does not have one of these interfaces.
    pub fn new(imports: &[&str], exports: &[&str]) -> Result<Self> {
        let lines = |word: &str, names: &[&str]| {
            names.iter().map(|name| format!("  {word} rookery:plugin/{name}@0.1.0;\n")).collect::<String>()
        };
        let text = format!(
            "package author:guest;\n\nworld plugin {{\n{}{}}}\n",
            lines("import", imports),
            lines("export", exports)
        );
        let mut resolve = Resolve::default();
        let contract =
            resolve.push_str("plugin.wit", CONTRACT).map_err(|error| Error(format!("the contract: {error}")))?;
        let interfaces = &resolve.packages[contract].interfaces;
        if let Some(unknown) = imports.iter().chain(exports).find(|name| !interfaces.contains_key(**name)) {
            return Err(Error(format!("the contract has no interface {unknown}")));
        }
        let package =
            resolve.push_str("world.wit", &text).map_err(|error| Error(format!("the plugin's world: {error}")))?;
        let id = resolve
            .select_world(&[package], Some("plugin"))
            .map_err(|error| Error(format!("the plugin's world: {error}")))?;
        Ok(Self { text, resolve, id })
    }

    /// Writes the world `plugin` and the contract into `folder`, in the layout that tools for WIT expect.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write(&folder.join("world.wit"), self.text.as_bytes())?;
        write(&folder.join("deps/rookery-plugin/plugin.wit"), CONTRACT.as_bytes())
    }

    /// Writes the bindings of `language` into `folder`.
    pub fn bindings(&self, language: Language, folder: &Path) -> Result<()> {
        match language {
            Language::C => {
                let options = wit_bindgen_c::Opts { no_object_file: true, ..wit_bindgen_c::Opts::default() };
                self.generate(options.build(), folder)?;
                write(&folder.join("rookery.h"), C_HEADER.as_bytes())
            }
            Language::Go => {
                self.generate(wit_bindgen_go::Opts::default().build(), folder)?;
                self.go_module(folder)
            }
            Language::Python => write(&folder.join("rookery.py"), PYTHON.as_bytes()),
            Language::TypeScript => {
                TYPESCRIPT.iter().try_for_each(|(name, text)| write(&folder.join(name), text.as_bytes()))
            }
        }
    }

    /// Writes the files that `generator` makes of the world.
    fn generate(&self, mut generator: Box<dyn WorldGenerator>, folder: &Path) -> Result<()> {
        let mut files = Files::default();
        generator
            .generate(&mut self.resolve.clone(), self.id, &mut files)
            .map_err(|error| Error(format!("bindings: {error}")))?;
        files.iter().try_for_each(|(path, bytes)| write(&folder.join(path), bytes))
    }

    /// Writes the files that connect the generated module with the author's package and with [`GO_MODULE`].
    fn go_module(&self, folder: &Path) -> Result<()> {
        for (path, text) in GO_MODULE {
            write(&folder.join("rookery").join(path), text.as_bytes())?;
        }
        let module = "module wit_component\n\ngo 1.25\n\nrequire go.bytecodealliance.org/pkg v0.0.0\n\n\
                      replace go.bytecodealliance.org/pkg => ./rookery\n";
        write(&folder.join("go.mod"), module.as_bytes())?;
        write(&folder.join("reporting/reporting.go"), GO_REPORTING.as_bytes())?;
        for (interface, functions) in self.exported() {
            let package = format!("export_rookery_plugin_{}", interface.replace('-', "_"));
            let mut text = format!(
                "package {package}\n\nimport (\n\t\"wit_component/plugin\"\n\t\"wit_component/reporting\"\n)\n"
            );
            for (function, params) in functions {
                let (name, whole) = (camel(function), format!("{}{}", camel(function), camel(interface)));
                let _ =
                    write!(text, "\n// {name} is the plugin's.\nvar {name} = reporting.Of{params}(plugin.{whole})\n");
            }
            write(&folder.join(&package).join("handle.go"), text.as_bytes())?;
        }
        Ok(())
    }

    /// The interfaces that the plugin exports, each with its functions and their numbers of parameters.
    fn exported(&self) -> impl Iterator<Item = (&str, Vec<(&str, usize)>)> {
        let exports = self.resolve.worlds[self.id].exports.values();
        exports.filter_map(|export| {
            let WorldItem::Interface { id, .. } = export else { return None };
            let interface = &self.resolve.interfaces[*id];
            let functions =
                interface.functions.values().map(|function| (function.name.as_str(), function.params.len()));
            Some((interface.name.as_deref()?, functions.collect()))
        })
    }

    /// Wraps a core module in a component; a component is returned unchanged. With `wasi`, the WASI imports of Go's
    /// runtime are satisfied by a stub inside, so that the component imports no WASI.
    ///
    /// # Errors
    /// When the module does not match the world; the message names the missing part.
    pub fn component(&self, module: &[u8], wasi: bool) -> Result<Vec<u8>> {
        if is_component(module) {
            return Ok(module.to_vec());
        }
        let mut module = module.to_vec();
        embed_component_metadata(&mut module, &self.resolve, self.id, StringEncoding::UTF8)
            .map_err(|error| Error(format!("the module: {error}")))?;
        let unfit = |error: String| Error(format!("the module does not fit the contract: {error}"));
        let encoder = ComponentEncoder::default().validate(true).module(&module);
        let mut encoder = encoder.map_err(|error| unfit(format!("{error:#}")))?;
        if wasi {
            let adapter = wat::parse_str(GO_WASI).map_err(|error| Error(format!("the adapter: {error}")))?;
            encoder =
                encoder.adapter("wasi_snapshot_preview1", &adapter).map_err(|error| unfit(format!("{error:#}")))?;
        }
        encoder.encode().map_err(|error| unfit(format!("{error:#}")))
    }
}

/// Whether these bytes have the header of a component (layer 1 of the binary format).
#[must_use]
pub fn is_component(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm") && bytes.get(6..8) == Some(&[1, 0])
}

/// `activity-filter` as `ActivityFilter`.
fn camel(name: &str) -> String {
    name.split('-')
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
        })
        .collect()
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder: PathBuf = path.parent().map(Path::to_path_buf).unwrap_or_default();
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|error| Error::at(&path.display().to_string())(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_names_its_imports_and_exports() {
        let world = World::new(&["sql"], &["routes", "events"]).unwrap();
        assert!(world.text.contains("  import rookery:plugin/sql@0.1.0;\n  export rookery:plugin/routes@0.1.0;\n"));
        let unknown = World::new(&["sqlite"], &[]).unwrap_err().to_string();
        assert!(unknown.contains("sqlite"), "{unknown}");
    }

    #[test]
    fn bindings_come_with_their_dependencies() {
        let world = World::new(&["log", "sql"], &["activity-handler", "status-filter", "lifecycle"]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        world.bindings(Language::C, &folder.path().join("c")).unwrap();
        world.bindings(Language::Go, &folder.path().join("go")).unwrap();
        world.bindings(Language::TypeScript, &folder.path().join("ts")).unwrap();
        for file in ["c/plugin.h", "c/plugin.c", "c/rookery.h", "go/wit_exports.go", "go/rookery/go.mod", "ts/sql.ts"] {
            assert!(folder.path().join(file).exists(), "{file}");
        }
        let glue = folder.path().join("go/export_rookery_plugin_activity_handler/handle.go");
        assert!(std::fs::read_to_string(glue).unwrap().contains("reporting.Of1(plugin.HandleActivityHandler)"));
        let text = |name: &str| {
            std::fs::read_to_string(folder.path().join(format!("go/export_rookery_plugin_{name}/handle.go"))).unwrap()
        };
        assert!(text("status_filter").contains("var BeforeSave = reporting.Of2(plugin.BeforeSaveStatusFilter)"));
        assert!(text("lifecycle").contains("var SelfTest = reporting.Of0(plugin.SelfTestLifecycle)"));
    }

    #[test]
    fn a_module_that_lacks_an_export_is_refused_by_its_name() {
        let world = World::new(&[], &["events"]).unwrap();
        let module = wat::parse_str("(module (memory (export \"memory\") 1))").unwrap();
        let refused = world.component(&module, false).unwrap_err().to_string();
        assert!(refused.contains("rookery:plugin/events"), "{refused}");
    }
}
