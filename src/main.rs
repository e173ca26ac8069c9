//! The program: see `rookery --help`.
fn main() {}
