//! A plugin package: its manifest, its files, the validation of its SQL, and the index that offers packages.
//!
//! Reached from `plugins`, which runs packages, and from the tools of authors, which check and pack them. Nothing here runs a
//! plugin or knows a server: there is no context and no table of the server.

pub mod index;
pub mod manifest;
pub mod package;
pub mod sql;

pub use manifest::Manifest;
pub use package::Package;
