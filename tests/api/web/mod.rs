//! The pages: public ones, the settings, signing in.

mod client;
mod client_folder;
mod feeds;
mod interaction;
mod languages;
mod pages;
mod password;
mod requests;
mod search;
mod session;
mod settings;
mod transfers;
