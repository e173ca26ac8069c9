//! What goes between this server and others. So far: the one client by which anything here reaches out.

pub mod fetch;
