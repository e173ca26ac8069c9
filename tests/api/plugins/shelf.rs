//! Plugin packages for tests: a folder of packages, and minimal components.

use std::path::PathBuf;

use plugins::life::State;
use plugins::life::{self, Outcome};
use rookery_plugin_host::LoadError;

use crate::harness::TestApp;

/// A server with a separate folder of plugins, and without the embedded plugins.
pub struct Shelf {
    pub app: TestApp,
}

/// A component that does nothing; `mark` makes it unique.
pub fn component(mark: &str) -> Vec<u8> {
    wat::parse_str(format!("(component (core module (@custom \"mark\" \"{mark}\")))")).unwrap()
}

/// A component with routes: each call runs `body`, which returns the address of its response (`call $ok`).
pub fn routes(body: &str) -> Vec<u8> {
    routes_with("", body)
}

/// As [`routes`], with `front` at the start of the module: imports come first.
pub fn routes_with(front: &str, body: &str) -> Vec<u8> {
    let handle = "(func (export \"rookery:plugin/routes@0.1.0#handle\") (param i32) (result i32)";
    exporting("routes", front, &format!("{handle} {body})"))
}

/// A component that receives events and ignores them.
pub fn events() -> Vec<u8> {
    let handle = "(func (export \"rookery:plugin/events@0.1.0#handle\") (param i32 i32) (result i32) (call $fine))";
    exporting("events", "", handle)
}

/// A component with a channel of streams: returns the topic, or fails with a status and a message.
pub fn channels(answer: Result<&str, (u16, &str)>) -> Vec<u8> {
    let word = |number: usize| {
        let bytes = u32::try_from(number).unwrap().to_le_bytes();
        bytes.map(|byte| format!("\\{byte:02x}")).concat()
    };
    let bytes = |at: usize, words: &[usize]| {
        let words: String = words.iter().map(|number| word(*number)).collect();
        format!("(data (i32.const {at}) \"{words}\")")
    };
    // The result at 4096, followed by the data it points to: the layout of `result<list<string>, failure>` in the
    // canonical ABI.
    let data = match answer {
        Ok(topic) => {
            let list = bytes(4096, &[0, 4112, 1]) + &bytes(4112, &[4128, topic.len()]);
            format!("{list} (data (i32.const 4128) \"{topic}\")")
        }
        Err((status, message)) => {
            let failure = bytes(4096, &[1, status.into(), 4160, 4, 4168, message.len(), 0, 0, 0]);
            format!("{failure} (data (i32.const 4160) \"test\") (data (i32.const 4168) \"{message}\")")
        }
    };
    let subscribe = "(func (export \"rookery:plugin/channels@0.1.0#subscribe\") (param i32) (result i32)
                       (global.set $top (i32.const 65536)) (i32.const 4096))";
    exporting("channels", "", &format!("{data} {subscribe}"))
}

/// A component whose channel of streams traps.
pub fn broken_channels() -> Vec<u8> {
    let subscribe =
        "(func (export \"rookery:plugin/channels@0.1.0#subscribe\") (param i32) (result i32) (unreachable))";
    exporting("channels", "", subscribe)
}

fn exporting(interface: &str, front: &str, functions: &str) -> Vec<u8> {
    use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let prelude = std::fs::read_to_string(root.join("src/plugin-host/tests/hostile/prelude.wat")).unwrap();
    let mut module = wat::parse_str(format!("(module {front} {prelude} {functions})")).unwrap();
    let mut resolve = wit_parser::Resolve::default();
    resolve.push_dir(root.join("plugin-sdk/wit/0.1")).unwrap();
    let world = format!(
        "package test:guest; world guest {{ include rookery:plugin/imports@0.1.0; export rookery:plugin/{interface}@0.1.0; }}"
    );
    let package = resolve.push_str("guest.wit", &world).unwrap();
    let world = resolve.select_world(&[package], Some("guest")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

/// A public route at `/api/v1/{name}`.
pub fn route(name: &str) -> String {
    format!("[[route]]\nid = \"index\"\nmethod = \"GET\"\npath = \"/api/v1/{name}\"\nauth = \"none\"\n")
}

/// A manifest: `[plugin]`, followed by `more`.
pub fn manifest(name: &str, version: &str, more: &str) -> String {
    format!(
        "[plugin]\nname = \"{name}\"\nversion = \"{version}\"\napi = \"0.1\"\ntitle = \"{name}\"\nlicense = \"MIT\"\n\
         wasm = \"{name}.wasm\"\n{more}"
    )
}

impl Shelf {
    /// A server in production mode.
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// A server in development mode: changes in the folder are loaded without confirmation.
    pub async fn in_development() -> Self {
        Self::with(&[("ROOKERY_SERVER_DEVELOPMENT", "true")]).await
    }

    pub async fn with(keys: &[(&str, &str)]) -> Self {
        let keys: Vec<_> = [("ROOKERY_PLUGINS_EMBEDDED", "false")].iter().chain(keys).copied().collect();
        Self::of(TestApp::with(&keys).await)
    }

    /// Another server in development mode with the same database and a separate folder of plugins.
    pub async fn beside(&self) -> Self {
        let keys = [("ROOKERY_PLUGINS_EMBEDDED", "false"), ("ROOKERY_SERVER_DEVELOPMENT", "true")];
        Self::of(self.app.beside(&keys).await)
    }

    fn of(app: TestApp) -> Self {
        std::fs::create_dir_all(&app.app.config.plugins.dir).unwrap();
        Self { app }
    }

    /// The folder of a package.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.app.app.config.plugins.dir.join(name)
    }

    /// Puts a package that does nothing into the folder of plugins, replacing an existing one.
    pub fn put(&self, name: &str, version: &str, more: &str) {
        self.put_component(name, &manifest(name, version, more), &component(version));
    }

    /// Puts a package with a single route.
    pub fn put_route(&self, name: &str, version: &str) {
        let wasm = routes("(call $ok)");
        self.put_component(name, &manifest(name, version, &route(name)), &wasm);
    }

    pub fn put_component(&self, name: &str, manifest: &str, wasm: &[u8]) {
        let folder = self.folder(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("plugin.toml"), manifest).unwrap();
        std::fs::write(folder.join(format!("{name}.wasm")), wasm).unwrap();
    }

    /// Installs and enables the package with this name.
    pub async fn enable(&self, name: &str) -> Result<Outcome, LoadError> {
        plugins::admin::enable(&self.app.plugins(), &model::Staff::operator(), name)
            .await
            .map_err(|error| panic!("{error}"))
            .unwrap();
        life::reload(&self.app.plugins(), name).await
    }

    /// Puts a package that does nothing, and enables it.
    pub async fn serve(&self, name: &str) {
        self.put(name, "1.0.0", "");
        assert!(matches!(self.enable(name).await, Ok(Outcome::Loaded(_))), "{:?}", self.state(name));
    }

    pub fn state(&self, name: &str) -> State {
        self.app.plugins().plugins.observed.of(name).state().cloned().unwrap()
    }

    /// Generation and version in service.
    pub fn serving(&self, name: &str) -> Option<(u64, String)> {
        let registry = self.app.plugins().registry();
        registry.find(name).map(|active| (active.generation, active.manifest.plugin.version.clone()))
    }

    pub async fn reload(&self, name: &str) -> Result<Outcome, LoadError> {
        life::reload(&self.app.plugins(), name).await
    }
}
