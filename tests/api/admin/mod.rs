//! The admin API: one file for each module of handlers in `src/http/api/admin`, with the same name.

mod audit_log;
mod metrics;
mod metrics_speed;
mod trends;
