//! Use cases, by aggregate: permission, rules, transaction, events. Knows neither HTTP nor SQL.

pub mod auth;
pub mod media;
pub mod notification;
pub mod sign_up;
pub mod token;
pub mod visibility;
