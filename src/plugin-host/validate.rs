//! Validates a component before anything of it is compiled or run, and reads its imports and exports.
//!
//! Reached from [`Engine::load`](crate::Engine::load) and [`Engine::shape`](crate::Engine::inspect). Checks with
//! wasmparser that the bytes are a valid component, that it is small enough to compile (no compile bomb), and that its
//! imports and exports agree with the contract, the manifest and the grants. Every refusal is one sentence that names
//! the plugin, the request, the offer, and the remedy. Types of functions are checked later, when the component is
//! linked.
//!
//! Spec: docs/plugins.md#22-loading, steps 2 to 4.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use wasmparser::component_types::ComponentEntityType;
use wasmparser::types::Types;
use wasmparser::{FuncValidatorAllocations, Parser, Payload, ValidPayload, Validator, WasmFeatures};

use crate::contract::{Export, Import, PACKAGE, TRACK, VERSION};
use crate::error::{LoadError, Stage};

/// The WebAssembly proposals that plugins may use: only proposals with deterministic behaviour on every machine.
pub(crate) const FEATURES: WasmFeatures = WasmFeatures::MUTABLE_GLOBAL
    .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::REFERENCE_TYPES)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::SIMD)
    .union(WasmFeatures::FLOATS)
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::MULTI_MEMORY)
    .union(WasmFeatures::EXTENDED_CONST)
    .union(WasmFeatures::COMPONENT_MODEL);

/// Largest component, bytes.
const MAX_BYTES: usize = 32 << 20;
/// The largest number of functions in all modules of a component: a component with an interpreter has some 30,000.
const MAX_FUNCTIONS: u32 = 150_000;
/// Largest function, bytes: compiling one takes more than linear time and memory, 440 MiB at 1.4 MB. The largest one of the
/// interpreter of Python has 430 kB.
const MAX_FUNCTION_BYTES: usize = 1 << 20;
/// Most modules and components nested in the component.
const MAX_NESTED: u32 = 100;

/// The interfaces that a component imports and exports, read without compiling it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Interfaces {
    pub imports: BTreeSet<Import>,
    pub exports: BTreeSet<Export>,
}

impl Interfaces {
    /// Validates `wasm` and reads its imports and exports.
    pub(crate) fn of(plugin: &str, wasm: &[u8]) -> Result<Self, LoadError> {
        sniff(plugin, wasm)?;
        let outside = outside(plugin, wasm)?;
        let mut shape = Self::default();
        imports(plugin, &outside, &mut shape.imports)?;
        exports(plugin, &outside, &mut shape.exports)?;
        Ok(shape)
    }

    /// Reads the text of `Display`; `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut found = Self::default();
        for line in text.lines() {
            match line.split_once(' ')? {
                ("import", name) => found.imports.insert(Import::from_name(name)?),
                ("export", name) => found.exports.insert(Export::from_name(name)?),
                _ => return None,
            };
        }
        Some(found)
    }

    /// Refuses imports that were not granted, exports that the manifest does not declare, and declared ones that are
    /// missing.
    pub(crate) fn agrees(
        &self,
        plugin: &str,
        granted: &BTreeSet<Import>,
        declared: &BTreeSet<Export>,
    ) -> Result<(), LoadError> {
        if let Some(missing) = declared.difference(&self.exports).next() {
            return Err(contract(format!(
                "{plugin}: the manifest declares {} but the component exports no {PACKAGE}/{missing}: implement it, or \
                 remove it from plugin.toml",
                missing.declaration()
            )));
        }
        let silent = |export: &&Export| !matches!(export, Export::Lifecycle | Export::InstanceInfo);
        if let Some(hidden) = self.exports.difference(declared).find(silent) {
            return Err(contract(format!(
                "{plugin}: the component exports {PACKAGE}/{hidden} but the manifest does not declare it: add {} to \
                 plugin.toml, or leave it out of the component",
                hidden.declaration()
            )));
        }
        if self.imports.contains(&Import::Federation) {
            return Err(LoadError::new(
                Stage::Grants,
                format!("{plugin}: imports {PACKAGE}/federation, and this server does not let plugins federate yet"),
            ));
        }
        match self.imports.iter().find(|import| !import.always() && !granted.contains(import)) {
            Some(import) => Err(LoadError::new(
                Stage::Grants,
                format!(
                    "{plugin}: imports {PACKAGE}/{import} without the permission `{}`: add it to plugin.toml and grant it",
                    import.permission()
                ),
            )),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Interfaces {
    /// A line for each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.imports.iter().try_for_each(|import| writeln!(f, "import {import}"))?;
        self.exports.iter().try_for_each(|export| writeln!(f, "export {export}"))
    }
}

/// What decides whether a component is accepted, besides wasmparser.
pub(crate) fn rules() -> String {
    let features = FEATURES.bits();
    let server = env!("CARGO_PKG_VERSION");
    format!("{server} {VERSION} {features:?} {MAX_BYTES} {MAX_FUNCTIONS} {MAX_FUNCTION_BYTES} {MAX_NESTED}")
}

fn invalid(sentence: String) -> LoadError {
    LoadError::new(Stage::Validate, sentence)
}

fn contract(sentence: String) -> LoadError {
    LoadError::new(Stage::Contract, sentence)
}

/// Refuses a file that is too large or, by its first bytes, not a component, and names its format.
fn sniff(plugin: &str, wasm: &[u8]) -> Result<(), LoadError> {
    if wasm.len() > MAX_BYTES {
        let mib = wasm.len() >> 20;
        return Err(invalid(format!(
            "{plugin}: the component has {mib} MiB of at most {} MiB: build it for release and strip it",
            MAX_BYTES >> 20
        )));
    }
    if Parser::is_component(wasm) {
        return Ok(());
    }
    Err(invalid(match wasm {
        [] => format!("{plugin}: the file is empty: build the plugin again"),
        _ if Parser::is_core_wasm(wasm) => format!(
            "{plugin}: the file is a core module and no component: build it with `rookery plugin build`, or turn it \
             into one with `wasm-tools component new`"
        ),
        [0x7f, b'E', b'L', b'F', ..] | [b'M', b'Z', ..] | [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] => format!(
            "{plugin}: the file is machine code and no WebAssembly: build it for wasm32-unknown-unknown and give the \
             component itself"
        ),
        [b'(', ..] => {
            format!(
                "{plugin}: the file is WebAssembly as text: give the binary component that `wasm-tools parse` makes"
            )
        }
        [0, b'a', b's', b'm', ..] => {
            format!("{plugin}: the file is WebAssembly of another version, or cut off: build the plugin again")
        }
        _ => format!("{plugin}: the file is no WebAssembly: give the component that `rookery plugin build` makes"),
    }))
}

/// The top-level imports and exports of a component, and their types.
struct TopLevel {
    imports: Vec<String>,
    exports: Vec<String>,
    types: Types,
}

/// Validates the whole component, within limits on what compiling it would cost.
fn outside(plugin: &str, wasm: &[u8]) -> Result<TopLevel, LoadError> {
    let wrong = |error: wasmparser::Error| invalid(describe(plugin, wasm, &error));
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    let mut validator = Validator::new_with_features(FEATURES);
    let (mut scratch, mut cost, mut depth) = (FuncValidatorAllocations::default(), CompileCost::default(), 0_u32);
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(wrong)?;
        match &payload {
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section.clone() {
                    imports.push(import.map_err(wrong)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section.clone() {
                    exports.push(export.map_err(wrong)?.name.name.to_owned());
                }
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                depth += 1;
                cost.nested += 1;
            }
            _ => {}
        }
        match validator.payload(&payload).map_err(wrong)? {
            ValidPayload::Func(function, body) => {
                cost.function(body.range().len());
                let mut function = function.into_validator(std::mem::take(&mut scratch));
                function.validate(&body).map_err(wrong)?;
                scratch = function.into_allocations();
            }
            ValidPayload::End(types) if depth == 0 => return Ok(TopLevel { imports, exports, types }),
            ValidPayload::End(_) => depth -= 1,
            ValidPayload::Ok | ValidPayload::Parser(_) => {}
        }
        cost.check(plugin)?;
    }
    Err(invalid(format!("{plugin}: the component ends early, at byte {}: build or copy it again", wasm.len())))
}

/// Counts what makes compiling expensive.
#[derive(Default)]
struct CompileCost {
    nested: u32,
    functions: u32,
    largest: usize,
}

impl CompileCost {
    fn function(&mut self, size: usize) {
        self.functions += 1;
        self.largest = self.largest.max(size);
    }

    fn check(&self, plugin: &str) -> Result<(), LoadError> {
        let (what, has, most) = match () {
            () if self.nested > MAX_NESTED => ("modules", self.nested as usize, MAX_NESTED as usize),
            () if self.functions > MAX_FUNCTIONS => ("functions", self.functions as usize, MAX_FUNCTIONS as usize),
            () if self.largest > MAX_FUNCTION_BYTES => ("bytes in one function", self.largest, MAX_FUNCTION_BYTES),
            () => return Ok(()),
        };
        Err(invalid(format!("{plugin}: the component has {has} {what} of at most {most}: make it smaller")))
    }
}

fn describe(plugin: &str, wasm: &[u8], error: &wasmparser::Error) -> String {
    let (message, offset) = (error.message(), error.offset());
    if offset >= wasm.len() || message.contains("unexpected end") {
        return format!("{plugin}: the component ends early, at byte {}: build or copy it again", wasm.len());
    }
    let mut line = String::new();
    for word in message.split_whitespace() {
        let _ = write!(line, "{}{word}", if line.is_empty() { "" } else { " " });
    }
    format!("{plugin}: the component is not valid at byte {offset} ({line}): build it again")
}

/// The interface's name in `rookery:plugin/core@0.1.0`; refuses other packages and versions outside of [`TRACK`].
fn interface<'a>(plugin: &str, verb: &str, name: &'a str) -> Result<&'a str, LoadError> {
    let unknown = || {
        contract(format!(
            "{plugin}: {verb} {name}, which is no part of the contract {PACKAGE}@{VERSION}: leave it out of the plugin's \
             world"
        ))
    };
    let (interface, version) = name
        .strip_prefix(PACKAGE)
        .and_then(|rest| rest.strip_prefix('/'))
        .and_then(|rest| rest.split_once('@'))
        .ok_or_else(unknown)?;
    let on_track = version.strip_prefix(TRACK).is_some_and(|rest| rest.starts_with('.'));
    if on_track {
        return Ok(interface);
    }
    Err(contract(format!(
        "{plugin}: {verb} {PACKAGE}/{interface} {version}, and this server offers {VERSION}: build the plugin with the SDK \
         for {TRACK}, or update the server"
    )))
}

/// Whether an imported instance holds anything to link, such as functions; types alone need no grant.
fn wanted(outside: &TopLevel, name: &str) -> bool {
    let types = outside.types.as_ref();
    match types.component_item_for_import(name).map(|item| item.ty) {
        Some(ComponentEntityType::Instance(instance)) => types[instance].exports.values().any(|item| match item.ty {
            ComponentEntityType::Type { created, .. } => {
                matches!(created, wasmparser::component_types::ComponentAnyTypeId::Resource(_))
            }
            _ => true,
        }),
        _ => true,
    }
}

fn imports(plugin: &str, outside: &TopLevel, found: &mut BTreeSet<Import>) -> Result<(), LoadError> {
    let wasi: Vec<&str> = outside.imports.iter().map(String::as_str).filter(|name| name.starts_with("wasi:")).collect();
    if !wasi.is_empty() {
        return Err(contract(format!(
            "{plugin}: imports {}, and no WASI is offered: build for wasm32-unknown-unknown, or let `rookery plugin build` \
             put stubs in its place; time, randomness and logs are imports of {PACKAGE}",
            wasi.join(", ")
        )));
    }
    for name in &outside.imports {
        let interface = interface(plugin, "imports", name)?;
        match Import::from_name(interface) {
            Some(import) if wanted(outside, name) => {
                found.insert(import);
            }
            Some(_) => {}
            None if interface == "types" || !wanted(outside, name) => {}
            None => {
                return Err(contract(format!(
                    "{plugin}: imports {PACKAGE}/{interface}, which {VERSION} does not have: build the plugin with the SDK \
                     for {TRACK}, or update the server"
                )));
            }
        }
    }
    Ok(())
}

fn exports(plugin: &str, outside: &TopLevel, found: &mut BTreeSet<Export>) -> Result<(), LoadError> {
    // Some languages' tools leave exports with plain names, which the host never calls.
    for name in outside.exports.iter().filter(|name| name.contains(':')) {
        let interface = interface(plugin, "exports", name)?;
        let export = Export::from_name(interface).ok_or_else(|| {
            contract(format!(
                "{plugin}: exports {PACKAGE}/{interface}, which {VERSION} does not have: build the plugin with the SDK for \
                 {TRACK}, or update the server"
            ))
        })?;
        found.insert(export);
    }
    Ok(())
}
