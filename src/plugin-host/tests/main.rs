//! The sandbox against guests that mean harm, and guests that only make mistakes.
//!
//! Each guest is a text in `hostile/`: the functions of a core module, which `harness` puts behind a common prelude and
//! makes a component of.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "figures that a test measured, beside what it holds")]

mod cache;
mod figures;
mod harness;
mod hostile;
mod life;
mod pools;
mod refused;
