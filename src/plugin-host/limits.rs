//! The limits of a plugin: CPU, wall-clock time, memory, concurrency, host calls and bytes.
//!
//! Set by `src/plugins` from the manifest and the admin's limits, applied by `call`, `pool`, `state` and `serve`. The
//! defaults are listed in docs/plugins.md#26-limits. Limits of SQL, HTTP, logs and jobs are the
//! [`Host`](crate::Host)'s.

use std::time::Duration;

/// Whether calls share instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstancePolicy {
    /// A new instance for each call: no state can leak from one to the next.
    Fresh,
    /// Warm instances are used again, until they are recycled by calls, age or memory.
    Pooled,
}

/// The limits of one plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CPU time that the guest may use in a route, command or job.
    pub route_cpu: Duration,
    /// Wall-clock time of a route, command or job, including host functions.
    pub route_wall: Duration,
    /// CPU time that the guest may use in a hook.
    pub hook_cpu: Duration,
    /// Wall-clock time of a hook.
    pub hook_wall: Duration,
    /// Linear memory of one instance, bytes.
    pub memory: usize,
    /// Elements of one table.
    pub table_elements: usize,
    /// Time within a minute that the transactions and statements of each [`Part`](crate::Part) may take of the database, as
    /// far as a single one takes longer than ten milliseconds; above it that part is not called for a while.
    pub database: Duration,
    /// Concurrent calls of routes, commands and jobs; as many filters besides, and as many other hooks.
    pub instances: u32,
    /// Calls that may wait for a slot; more are refused.
    pub queue: u32,
    /// How long a call waits for a slot.
    pub queue_wait: Duration,
    /// Budget of host calls for each call, in the cost units of the contract.
    pub host_calls: u32,
    /// Bytes that the guest may pass to the host, for each call: parameters of host functions, and its own answer.
    pub bytes_out: usize,
    /// Bytes that the host may pass to the guest, for each call: parameters of the call, and answers of host functions.
    pub bytes_in: usize,
    /// Instance policy of routes, commands and jobs.
    pub route_policy: InstancePolicy,
    /// Instance policy of hooks.
    pub hook_policy: InstancePolicy,
    /// Calls after which a pooled instance is recycled.
    pub recycle_calls: u32,
    /// Age at which a pooled instance is recycled.
    pub recycle_age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            route_cpu: Duration::from_millis(50),
            route_wall: Duration::from_secs(5),
            hook_cpu: Duration::from_millis(20),
            hook_wall: Duration::from_secs(1),
            memory: 32 << 20,
            table_elements: 20_000,
            database: Duration::from_secs(20),
            instances: 4,
            queue: 64,
            queue_wait: Duration::from_secs(1),
            host_calls: 1_000,
            bytes_out: 4 << 20,
            bytes_in: 8 << 20,
            route_policy: InstancePolicy::Fresh,
            hook_policy: InstancePolicy::Pooled,
            recycle_calls: 1_000,
            recycle_age: Duration::from_secs(5 * 60),
        }
    }
}
