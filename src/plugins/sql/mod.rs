//! SQL of plugins.
mod check;
mod source;
mod text;
