//! Use cases, by aggregate: permission, rules, transaction, events. Knows neither HTTP nor SQL.

pub mod account;
pub mod auth;
pub mod follow;
pub mod limits;
pub mod marker;
pub mod media;
pub mod notification;
pub mod profile;
pub mod profile_image;
pub mod relationship;
pub mod session;
pub mod settings;
pub mod sign_up;
pub mod staff;
pub mod token;
pub mod visibility;
