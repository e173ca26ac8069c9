//! Which file of a crate imports which, read from the source, and the circles among them.
//!
//! Used by the tests of this folder and by `make layers`, so it names nothing but the standard library. Reads `use`
//! declarations and qualified paths that begin with `crate`, `self`, `super`, an imported name or a child module. A
//! re-exported item counts as an import of the file that defines it. It expands no macros, and leaves out unit tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use super::source::code;

/// A path as it is written, in segments: `crate::platform::store::Db`.
type Segments = Vec<String>;

/// The files of one crate and the imports between them.
#[derive(Debug, Default)]
pub struct Crate {
    /// Files relative to the folder of the crate, in order.
    pub files: Vec<String>,
    /// By file: the files it imports.
    pub imports: Vec<BTreeSet<usize>>,
}

/// The definitions and imports of one file.
#[derive(Debug, Default)]
struct File {
    /// The path of its module: empty for `lib.rs`.
    module: Segments,
    /// Names of items that the file defines.
    defined: BTreeSet<String>,
    /// Names brought in by `use`, with the path that each stands for.
    names: BTreeMap<String, Segments>,
    /// Paths that `use` brings in with `*`.
    globs: Vec<Segments>,
    /// Names of macros that the file exports at the root of the crate.
    exported: BTreeSet<String>,
    /// Qualified paths in code.
    paths: BTreeSet<Segments>,
    /// Open braces, and how many were open where each open inline module began.
    braces: usize,
    inline: Vec<usize>,
}

impl Crate {
    /// Reads the crate in `folder`, whose library is `lib.rs`.
    pub fn read(folder: &Path) -> Self {
        let mut files = Vec::new();
        walk(folder, &mut files);
        files.sort();
        let names: Vec<String> =
            files.iter().map(|file| file.strip_prefix(folder).expect("is inside").display().to_string()).collect();
        let read: Vec<File> = files.iter().zip(&names).map(|(path, name)| File::read(path, name)).collect();
        let modules: BTreeMap<&[String], usize> =
            read.iter().enumerate().map(|(at, file)| (file.module.as_slice(), at)).collect();
        let imports = (0..read.len())
            .map(|at| {
                let used = read[at].names.values().chain(&read[at].paths).chain(&read[at].globs);
                let mut found: BTreeSet<usize> = used.filter_map(|path| target(&read, &modules, at, path, 0)).collect();
                found.remove(&at);
                found
            })
            .collect();
        Self { files: names, imports }
    }

    /// Groups of two and more files that import one another, directly or through others; the largest first.
    pub fn circles(&self) -> Vec<Vec<&str>> {
        let reached: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|at| self.reached(at)).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for at in 0..self.files.len() {
            let circle: Vec<usize> =
                reached[at].iter().copied().filter(|other| reached[*other].contains(&at)).collect();
            if circle.len() > 1 && seen.insert(circle.clone()) {
                circles.push(circle.iter().map(|at| self.files[*at].as_str()).collect());
            }
        }
        circles.sort_by_key(|circle: &Vec<&str>| usize::MAX - circle.len());
        circles
    }

    /// The files that `from` imports, directly or through others.
    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            open.extend(self.imports[at].iter().filter(|next| seen.insert(**next)));
        }
        seen
    }
}

/// The file that `path`, written in the file `at`, leads to; `None` outside of the crate.
fn target(
    files: &[File],
    modules: &BTreeMap<&[String], usize>,
    at: usize,
    path: &[String],
    depth: usize,
) -> Option<usize> {
    if depth > 8 {
        return None;
    }
    let full = absolute(files, modules, at, path, depth)?;
    let length = (0..=full.len()).rev().find(|length| modules.contains_key(&full[..*length]))?;
    let found = modules[&full[..length]];
    let item = full.get(length)?;
    if files[found].defined.contains(item) {
        return Some(found);
    }
    if let Some(elsewhere) = files[found].names.get(item) {
        let rest: Segments = elsewhere.iter().chain(&full[length + 1..]).cloned().collect();
        return target(files, modules, found, &rest, depth + 1);
    }
    let through = files[found].globs.iter().find_map(|glob| {
        let rest: Segments = glob.iter().chain(&full[length..]).cloned().collect();
        target(files, modules, found, &rest, depth + 1).filter(|file| files[*file].defined.contains(item))
    });
    if through.is_some() {
        return through;
    }
    let macros = || files.iter().position(|file| file.exported.contains(item)).filter(|_| length == 0);
    // An item that a macro defines is taken for one of the only file whose items are all re-exported.
    let expanded = || match files[found].globs.as_slice() {
        [glob] => {
            absolute(files, modules, found, glob, depth + 1).and_then(|path| modules.get(path.as_slice()).copied())
        }
        _ => None,
    };
    macros().or_else(expanded).or(Some(found))
}

/// `path` from the root of the crate; `None` when it begins outside of it.
fn absolute(
    files: &[File],
    modules: &BTreeMap<&[String], usize>,
    at: usize,
    path: &[String],
    depth: usize,
) -> Option<Segments> {
    let module = &files[at].module;
    let (first, rest) = path.split_first()?;
    let base: Segments = match first.as_str() {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => {
            let parent: Segments = module[..module.len().checked_sub(1)?].to_vec();
            return Some(supers(parent, rest));
        }
        name => {
            let child: Segments = module.iter().cloned().chain(iter::once(name.to_owned())).collect();
            if modules.contains_key(child.as_slice()) {
                child
            } else {
                let meant = files[at].names.get(name).filter(|meant| meant.first() != Some(first))?;
                if depth > 8 {
                    return None;
                }
                absolute(files, modules, at, meant, depth + 1)?
            }
        }
    };
    Some(base.into_iter().chain(rest.iter().cloned()).collect())
}

/// `rest` below `parent`, a step up for every further `super`.
fn supers(mut parent: Segments, rest: &[String]) -> Segments {
    let ups = rest.iter().take_while(|segment| *segment == "super").count();
    parent.truncate(parent.len().saturating_sub(ups));
    parent.into_iter().chain(rest[ups..].iter().cloned()).collect()
}

impl File {
    fn read(path: &Path, name: &str) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut file = Self { module: module(name), ..Self::default() };
        let tokens = tokens(&text);
        let mut at = 0;
        while at < tokens.len() {
            at = file.take(&tokens, at);
        }
        file
    }

    /// Reads what begins at the token `at`, and returns where the next begins.
    fn take(&mut self, tokens: &[String], at: usize) -> usize {
        let token = tokens[at].as_str();
        if token == "use" {
            return self.take_use(tokens, at + 1, &Vec::new());
        }
        if token == "#" && tokens[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"].map(str::to_owned)) {
            return after_item(tokens, at + 7);
        }
        match token {
            "mod" if tokens.get(at + 2).is_some_and(|next| next == "{") => {
                self.defined.insert(tokens[at + 1].clone());
                self.inline.push(self.braces);
                self.braces += 1;
                return at + 3;
            }
            "{" => self.braces += 1,
            "}" => {
                self.braces = self.braces.saturating_sub(1);
                self.inline.pop_if(|begun| *begun == self.braces);
            }
            _ => {}
        }
        if token == "macro_export" {
            let name = tokens[at..].iter().skip_while(|next| *next != "macro_rules").nth(2);
            self.exported.extend(name.cloned());
        }
        let defines = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];
        if defines.contains(&token) {
            let name = tokens[at + 1..].iter().find(|next| !matches!(next.as_str(), "!" | "mut" | "fn"));
            self.defined.extend(name.cloned());
            return at + 1;
        }
        if is_name(token) && tokens.get(at + 1).is_some_and(|next| next == "::") {
            return self.take_path(tokens, at);
        }
        at + 1
    }

    /// A qualified path in code.
    fn take_path(&mut self, tokens: &[String], mut at: usize) -> usize {
        let mut path = vec![tokens[at].clone()];
        while tokens.get(at + 1).is_some_and(|next| next == "::")
            && tokens.get(at + 2).is_some_and(|next| is_name(next))
        {
            path.push(tokens[at + 2].clone());
            at += 2;
        }
        if path.len() > 1 {
            let path = self.outer(path);
            self.paths.insert(path);
        }
        at + 1
    }

    /// `path`, written in an inline module, as the file itself would write it.
    fn outer(&self, mut path: Segments) -> Segments {
        let ups = path.iter().take_while(|segment| *segment == "super").count().min(self.inline.len());
        if ups > 0 {
            path.splice(..ups, iter::once("self".to_owned()));
        }
        path
    }

    /// The tree of a `use` declaration below `base`, up to its `;`, `,` or `}`.
    fn take_use(&mut self, tokens: &[String], mut at: usize, base: &Segments) -> usize {
        let mut path = base.clone();
        while at < tokens.len() {
            match tokens[at].as_str() {
                "{" => {
                    at += 1;
                    while tokens[at] != "}" {
                        at = self.take_use(tokens, at, &path);
                        at += usize::from(tokens[at] == ",");
                    }
                    return at + 1 + usize::from(tokens.get(at + 1).is_some_and(|next| next == ";"));
                }
                "*" => {
                    self.globs.push(self.outer(path));
                    return at + 1;
                }
                "as" => {
                    self.names.insert(tokens[at + 1].clone(), self.outer(path));
                    return at + 2;
                }
                "self" if !path.is_empty() => {}
                "::" => {}
                name if is_name(name) => path.push(name.to_owned()),
                _ => break,
            }
            at += 1;
        }
        if let Some(name) = path.last() {
            self.names.insert(name.clone(), self.outer(path.clone()));
        }
        at + usize::from(tokens.get(at).is_some_and(|next| next == ";"))
    }
}

/// Where the item that begins at `at` ends: after its braces or its semicolon.
fn after_item(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && tokens[at - 1] == "}" {
            return at;
        }
    }
    at
}

fn module(name: &str) -> Segments {
    let mut module: Segments = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod" || (last == "lib" && module.len() == 1)) {
        module.pop();
    }
    module
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names and punctuation of `text`, without comments and literals.
fn tokens(text: &str) -> Vec<String> {
    let code = code(text);
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            other => other.len_utf8(),
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Source files below `folder` that are no tests, benches or build scripts.
fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())).flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "tests" | "benches" | "samples") {
                walk(&path, into);
            }
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "build.rs" {
            into.push(path);
        }
    }
}
