//! Compiles components to machine code with Cranelift, through the AOT cache on disk.
//!
//! Reached from [`Engine::load`](crate::Engine::load). One compilation runs at a time, in a confined child process
//! ([`compile_worker`]), on threads of low priority and with limits of time and memory; concurrent requests for the same
//! component share one job. Does not look for compile bombs: `shape` has bounded the size and the number of functions before.
//!
//! Spec: docs/plugins.md#22-loading, step 5.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256, digest};
use tokio::sync::{OnceCell, Semaphore};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache::{self, CodeCache};
use crate::call::one_line;
use crate::compile_worker::{self, CompileError};
use crate::engine::EngineOptions;
use crate::error::{LoadError, Stage};
use crate::validate::{Interfaces, rules};

/// Time limit of one compilation, and of waiting for the one before it.
///
/// Components that bundle an interpreter (Python, TypeScript) take a minute on a busy machine.
pub(crate) const COMPILE_TIMEOUT: Duration = Duration::from_secs(300);

/// Compiles components or loads them from the cache.
pub(crate) struct Compiler {
    engine: Engine,
    /// The part of a cached file's name that identifies the compiler and its settings.
    maker: String,
    /// The program that compiles in a child process.
    program: Option<PathBuf>,
    cache: Option<Arc<CodeCache>>,
    turn: Arc<Semaphore>,
    jobs: Mutex<HashMap<String, Arc<OnceCell<Component>>>>,
}

/// SHA-256 as a [`Hasher`]: unlike the standard library's, the same in every build and on every machine.
struct StableHasher(Context);

impl Hasher for StableHasher {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Hash of everything besides the component that machine code and its acceptance depend on: wasmtime's compatibility hash,
/// `quick`, and the rules of validation.
pub(crate) fn maker(engine: &Engine, quick: bool) -> String {
    let mut hash = StableHasher(Context::new(&SHA256));
    engine.precompile_compatibility_hash().hash(&mut hash);
    quick.hash(&mut hash);
    rules().hash(&mut hash);
    hex(hash.0.finish().as_ref()).get(..16).unwrap_or_default().to_owned()
}

impl Compiler {
    pub(crate) fn new(engine: Engine, options: EngineOptions) -> Self {
        let cache = options.cache.map(|folder| Arc::new(CodeCache::new(folder, &options.key)));
        let maker = maker(&engine, options.quick);
        // Functions that did not change are not compiled again in this process.
        let program = options.compiler.filter(|_| !options.quick);
        Self { engine, maker, program, cache, turn: Arc::new(Semaphore::new(1)), jobs: Mutex::default() }
    }

    /// Under which `wasm` is found in the cache.
    fn name(&self, wasm: &[u8]) -> String {
        format!("{}-{}", hex(digest(&SHA256, wasm).as_ref()), self.maker)
    }

    /// What `wasm` imports and exports: from the cache if it was validated before. Validating was a fifth of a
    /// server's start.
    ///
    /// # Errors
    /// As [`Interfaces::of`].
    pub(crate) fn interfaces(&self, plugin: &str, wasm: &[u8]) -> Result<Interfaces, LoadError> {
        let Some(cache) = &self.cache else { return Interfaces::of(plugin, wasm) };
        let name = self.name(wasm);
        if let Some(known) = cache.find_interfaces(&name) {
            return Ok(known);
        }
        let found = Interfaces::of(plugin, wasm)?;
        cache.store_interfaces(&name, &found);
        Ok(found)
    }

    /// The compiled component. Concurrent requests for the same bytes wait for one job.
    pub(crate) async fn component(&self, plugin: &str, wasm: &Arc<[u8]>) -> Result<Component, LoadError> {
        let name = self.name(wasm);
        let job = {
            let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(jobs.entry(name.clone()).or_default())
        };
        let component = job.get_or_try_init(|| self.made(plugin, &name, wasm)).await.cloned();
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.get(&name).is_some_and(|present| Arc::ptr_eq(present, &job)) {
            jobs.remove(&name);
        }
        component
    }

    async fn made(&self, plugin: &str, name: &str, wasm: &Arc<[u8]>) -> Result<Component, LoadError> {
        let failed = |why: &str| LoadError::new(Stage::Compile, format!("{plugin}: {why}"));
        let late =
            || failed(&format!("compiling took more than {} s: make the component smaller", COMPILE_TIMEOUT.as_secs()));
        let turn = tokio::time::timeout(COMPILE_TIMEOUT, Arc::clone(&self.turn).acquire_owned()).await;
        let turn = turn.map_err(|_| late())?.map_err(|_| failed("the compiler has stopped"))?;
        let (engine, cache) = (self.engine.clone(), self.cache.clone());
        if let Some(program) = &self.program {
            let compiled = self.in_child(program, name, wasm).await;
            return compiled.map_err(|error| failed(&error.sentence()));
        }
        let (name, wasm) = (name.to_owned(), Arc::clone(wasm));
        let work = tokio::task::spawn_blocking(move || {
            // Held until this thread ends, even when the caller has timed out: there is only ever one compilation.
            let _turn = turn;
            find_or_compile(&engine, cache.as_deref(), &name, &wasm)
        });
        match tokio::time::timeout(COMPILE_TIMEOUT, work).await {
            Ok(Ok(Ok(component))) => Ok(component),
            Ok(Ok(Err(error))) => {
                let why = one_line(&error.root_cause().to_string());
                Err(failed(&format!("does not compile ({why}): build it again")))
            }
            Ok(Err(_)) => Err(failed("the component made the compiler fail: report this with the file")),
            Err(_) => Err(late()),
        }
    }
}

impl Compiler {
    /// The component from the cache, else compiled in a child process. Its code goes from the child to the cache, and from there
    /// into memory, as on every later start.
    async fn in_child(&self, program: &Path, name: &str, wasm: &[u8]) -> Result<Component, CompileError> {
        let Some(cache) = &self.cache else { return self.compiled(program, wasm).await };
        if let Some(found) = self.cached(cache, name).await? {
            return Ok(found);
        }
        let stored = match cache.begin_code(name) {
            Ok(mut file) => {
                let done = compile_worker::in_child(program, &self.maker, wasm, |code| file.push(code)).await;
                done.and_then(|()| file.finish().map_err(CompileError::Unstored))
            }
            Err(error) => Err(CompileError::Unstored(error)),
        };
        match stored {
            Ok(()) => {
                cache.make_room();
                let lost = || CompileError::Unstored(std::io::ErrorKind::NotFound.into());
                self.cached(cache, name).await?.ok_or_else(lost)
            }
            Err(CompileError::Unstored(error)) => {
                tracing::warn!("a compiled component could not be kept: {error}");
                self.compiled(program, wasm).await
            }
            Err(error) => Err(error),
        }
    }

    async fn cached(&self, cache: &Arc<CodeCache>, name: &str) -> Result<Option<Component>, CompileError> {
        let (engine, cache, name) = (self.engine.clone(), Arc::clone(cache), name.to_owned());
        let found = tokio::task::spawn_blocking(move || cache.find(&engine, &name)).await;
        found.map_err(|error| CompileError::Failed(error.to_string()))
    }

    /// Compiled in a child process and kept nowhere.
    async fn compiled(&self, program: &Path, wasm: &[u8]) -> Result<Component, CompileError> {
        let mut code = Vec::new();
        let push = |part: &[u8]| {
            code.extend_from_slice(part);
            Ok(())
        };
        compile_worker::in_child(program, &self.maker, wasm, push).await?;
        cache::deserialize(&self.engine, &code).map_err(|error| CompileError::Failed(error.to_string()))
    }
}

fn find_or_compile(engine: &Engine, cache: Option<&CodeCache>, name: &str, wasm: &[u8]) -> wasmtime::Result<Component> {
    if let Some(component) = cache.and_then(|cache| cache.find(engine, name)) {
        return Ok(component);
    }
    let component = compile(|| Component::from_binary(engine, wasm))?;
    if let Some(cache) = cache {
        cache.store(name, &component);
    }
    Ok(component)
}

/// Runs `work` on two threads of low priority (nice 10).
pub(crate) fn compile<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let yielding = |_| {
        // Best effort: where it is not permitted, compiling has normal priority.
        let _ = rustix::process::setpriority_process(None, 10);
    };
    match rayon::ThreadPoolBuilder::new().num_threads(2).start_handler(yielding).build() {
        Ok(threads) => threads.install(work),
        Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiler(quick: bool) -> Compiler {
        let options = EngineOptions { cache: None, key: [0; 32], quick, instances: 1, memory: 1 << 20, compiler: None };
        Compiler::new(Engine::default(), options)
    }

    #[tokio::test]
    async fn equal_requests_wait_for_one_compilation() {
        let wasm: Arc<[u8]> = wat::parse_str("(component (core module (func)))").unwrap().into();
        let compiler = compiler(false);
        let ask = || compiler.component("guest", &wasm);
        let (one, two, three) = tokio::join!(ask(), ask(), ask());
        let code = |component: Result<Component, LoadError>| component.unwrap().image_range();
        let one = code(one);
        assert_eq!((code(two), code(three)), (one.clone(), one));
        assert!(compiler.jobs.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn failed_compilation_is_one_sentence_and_retried() {
        let compiler = compiler(false);
        let broken: Arc<[u8]> = Arc::from(&b"\0asm\x0d\0\x01\0\xff"[..]);
        for _ in 0..2 {
            let fault = compiler.component("guest", &broken).await.unwrap_err();
            assert_eq!(fault.stage, Stage::Compile);
            assert!(fault.message.starts_with("guest: does not compile ("), "{fault}");
            assert!(!fault.message.contains('\n'), "{fault}");
        }
    }

    #[test]
    fn quick_code_and_good_code_have_names_of_their_own() {
        assert_ne!(compiler(false).maker, compiler(true).maker);
        assert_eq!(compiler(true).maker, compiler(true).maker);
    }
}
