//! Use cases, by aggregate: permission, rules, transaction, events. Knows neither HTTP nor SQL.

pub mod account;
pub mod auth;
pub mod confirmation;
pub mod follow;
pub mod letter;
pub mod limits;
pub mod link;
pub mod mark;
pub mod marker;
pub mod media;
pub mod notification;
pub mod owner;
pub mod password;
pub mod profile;
pub mod profile_image;
pub mod reblog;
pub mod registration;
pub mod relationship;
pub mod session;
pub mod settings;
pub mod sign_up;
pub mod staff;
pub mod status;
pub mod timeline;
pub mod token;
pub mod visibility;
