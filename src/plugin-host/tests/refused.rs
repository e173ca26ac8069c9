//! The exact messages for components that are refused: one sentence with the plugin, the fault and what to do.

use std::collections::BTreeSet;

use rookery_plugin_host::{Engine, Export, Interfaces};

use crate::harness::*;

fn shape(wasm: &[u8]) -> String {
    Engine::inspect("antennas", wasm).unwrap_err().to_string()
}

fn shape_of(text: &str) -> Result<Interfaces, String> {
    Engine::inspect("antennas", &wat::parse_str(text).unwrap()).map_err(|fault| fault.to_string())
}

/// The message that refuses a component given as WebAssembly text.
fn refusal(text: &str) -> String {
    shape_of(text).unwrap_err()
}

#[test]
fn other_files_than_components_are_recognised() {
    assert_eq!(shape(b""), "validate: antennas: the file is empty: build the plugin again");
    assert_eq!(
        shape(&wat::parse_str("(module)").unwrap()),
        "validate: antennas: the file is a core module and no component: build it with `rookery plugin build`, or turn it \
         into one with `wasm-tools component new`"
    );
    assert_eq!(
        shape(b"\x7fELF\x02\x01\x01"),
        "validate: antennas: the file is machine code and no WebAssembly: build it for wasm32-unknown-unknown and give the \
         component itself"
    );
    assert_eq!(
        shape(b"(component)"),
        "validate: antennas: the file is WebAssembly as text: give the binary component that `wasm-tools parse` makes"
    );
    assert_eq!(
        shape(b"\xd3\x1f random"),
        "validate: antennas: the file is no WebAssembly: give the component that `rookery plugin build` makes"
    );
    assert_eq!(
        shape(b"\0asm"),
        "validate: antennas: the file is WebAssembly of another version, or cut off: build the plugin again"
    );
    assert_eq!(
        shape(&vec![0; (32 << 20) + (1 << 20)]),
        "validate: antennas: the component has 33 MiB of at most 32 MiB: build it for release and strip it"
    );
}

#[test]
fn every_cut_and_many_flips_are_refused_or_harmless() {
    let (wasm, _) = component("quiet");
    for length in (0..wasm.len() / 2).step_by(3) {
        // A cut between two sections may leave a valid, smaller component, which is refused for the exports that it
        // lacks.
        if let Ok(shape) = Engine::inspect("antennas", &wasm[..length]) {
            assert!(shape.exports.len() < 3, "cut at {length}");
        }
    }
    let cut = shape(&wasm[..wasm.len() - 1]);
    let expected =
        format!("validate: antennas: the component ends early, at byte {}: build or copy it again", wasm.len() - 1);
    assert_eq!(cut, expected);
    for at in (0..wasm.len()).step_by(3) {
        let mut flipped = wasm.to_vec();
        flipped[at] ^= 0x55;
        if let Err(fault) = Engine::inspect("antennas", &flipped) {
            assert!(!fault.message.contains('\n') && fault.message.len() < 600, "{fault}");
        }
    }
}

#[test]
fn another_contract_is_named_with_both_versions() {
    assert_eq!(
        refusal(r#"(component (import "rookery:plugin/core@0.2.0" (instance (export "statuses" (func)))))"#),
        "contract: antennas: imports rookery:plugin/core 0.2.0, and this server offers 0.1.0: build the plugin with the SDK \
         for 0.1, or update the server"
    );
    assert_eq!(
        refusal(r#"(component (import "rookery:plugin/telepathy@0.1.4" (instance (export "read" (func)))))"#),
        "contract: antennas: imports rookery:plugin/telepathy, which 0.1.0 does not have: build the plugin with the SDK for \
         0.1, or update the server"
    );
    assert_eq!(
        refusal(r#"(component (import "acme:plugin/core@0.1.0" (instance (export "read" (func)))))"#),
        "contract: antennas: imports acme:plugin/core@0.1.0, which is no part of the contract rookery:plugin@0.1.0: leave it \
         out of the plugin's world"
    );
    assert_eq!(
        refusal(r#"(component (instance $i) (export "rookery:plugin/dreams@0.1.0" (instance $i)))"#),
        "contract: antennas: exports rookery:plugin/dreams, which 0.1.0 does not have: build the plugin with the SDK for \
         0.1, or update the server"
    );
    let tools = r#"(component (instance $i) (export "exports" (instance $i)))"#;
    assert_eq!(shape_of(tools), Ok(Interfaces::default()), "parts of a language's tools are never called");
    let later = r#"(component (import "rookery:plugin/log@0.1.7" (instance)))"#;
    assert_eq!(shape_of(later), Ok(Interfaces::default()), "types alone need no permission");
}

#[test]
fn all_wasi_imports_are_listed_together() {
    let text = r#"(component
        (import "wasi:cli/environment@0.2.0" (instance))
        (import "wasi:clocks/wall-clock@0.2.0" (instance)))"#;
    assert_eq!(
        refusal(text),
        "contract: antennas: imports wasi:cli/environment@0.2.0, wasi:clocks/wall-clock@0.2.0, and no WASI is offered: build \
         for wasm32-unknown-unknown, or let `rookery plugin build` put stubs in its place; time, randomness and logs are \
         imports of rookery:plugin"
    );
}

#[test]
fn proposals_that_differ_by_machine_are_refused() {
    let text = "(component (core module (memory i64 1)))";
    let refused = refusal(text);
    assert!(refused.starts_with("validate: antennas: the component is not valid at byte "), "{refused}");
    assert!(refused.contains("memory64"), "{refused}");
    assert!(refusal("(component (core module (memory 1 1 shared)))").contains("threads"));
}

#[test]
fn compiler_bomb_is_refused() {
    let functions = "(func)".repeat(150_001);
    assert_eq!(
        refusal(&format!("(component (core module {functions}))")),
        "validate: antennas: the component has 150001 functions of at most 150000: make it smaller"
    );
    let body = "i32.const 0 drop ".repeat(1_000_000);
    let large = refusal(&format!("(component (core module (func {body})))"));
    assert!(large.ends_with(" bytes in one function of at most 1048576: make it smaller"), "{large}");
}

/// The message that refuses `guest` after the test changed its package.
async fn load_changed(guest: &str, change: impl FnOnce(&mut rookery_plugin_host::Package)) -> String {
    let mut package = package(guest);
    change(&mut package);
    engine().load(package, Quiet::new()).await.unwrap_err().to_string()
}

#[tokio::test]
async fn manifest_and_component_must_agree() {
    assert_eq!(
        load_changed("quiet", |package| package.exports = BTreeSet::from([Export::Routes, Export::Decorate])).await,
        "contract: guest: the component exports rookery:plugin/events but the manifest does not declare it: add [[hook]] to \
         plugin.toml, or leave it out of the component"
    );
    assert_eq!(
        load_changed("quiet", |package| {
            package.exports.insert(Export::Jobs);
        })
        .await,
        "contract: guest: the manifest declares [[job]] but the component exports no rookery:plugin/jobs: implement it, or \
         remove it from plugin.toml"
    );
}

#[tokio::test]
async fn impossible_limits_are_reported_before_anything_starts() {
    assert_eq!(
        load_changed("begins_large", |_| {}).await,
        "validate: guest: begins with 100 MiB of memory, and its limit is 32 MiB: raise `memory` in plugin.toml"
    );
    assert_eq!(
        load_changed("quiet", |package| package.limits.memory = 1 << 30).await,
        "validate: guest: asks for 1024 MiB of memory, and this server gives 192 MiB: lower `memory`"
    );
}

#[tokio::test]
async fn function_of_another_type_breaks_contract() {
    let text = r#"(component
        (import "rookery:plugin/system@0.1.0" (instance (export "now" (func (result string))))))"#;
    let refused = load_changed("quiet", |package| {
        package.wasm = wat::parse_str(text).unwrap().into();
        package.exports = BTreeSet::new();
    })
    .await;
    let expected = "contract: guest: was built against another draft of rookery:plugin@0.1 (";
    assert!(refused.starts_with(expected) && refused.ends_with("): build it with this server's SDK"), "{refused}");
    assert!(refused.contains("now"), "{refused}");
}
