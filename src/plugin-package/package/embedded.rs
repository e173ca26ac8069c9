//! The packages of the repository's own plugins, embedded in the server by `build.rs`.

/// A plugin's name, and its files by relative path.
pub(super) type Package = (&'static str, &'static [(&'static str, &'static [u8])]);

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
