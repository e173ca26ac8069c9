//! How much of everything one call of a plugin may use (PLUGINS.md section 2.6).

use std::time::Duration;

/// How instances are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One instance for each call: nothing can leak from one to the next.
    Fresh,
    /// Instances are kept warm and used again, until calls, age or memory retire them.
    Pooled,
}

/// The limits of one plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Guest time of a route, command or job.
    pub route_cpu: Duration,
    /// Time on the clock of a route, command or job, with what the host does for it.
    pub route_wall: Duration,
    /// Guest time of a hook.
    pub hook_cpu: Duration,
    /// Time on the clock of a hook.
    pub hook_wall: Duration,
    /// Linear memory of one instance, bytes.
    pub memory: usize,
    /// Elements of one table.
    pub table_elements: usize,
    /// Calls at once.
    pub instances: u32,
    /// Calls that wait for a place.
    pub queue: u32,
    /// How long a call waits for a place.
    pub queue_wait: Duration,
    /// Weighted calls of the host's functions, for each call.
    pub host_calls: u32,
    /// Bytes that the guest may hand to the host, for each call.
    pub bytes_out: usize,
    /// Bytes that the host hands to the guest, for each call.
    pub bytes_in: usize,
    /// Handles that are open at once.
    pub handles: usize,
    /// How routes, commands and jobs use instances.
    pub route_policy: Policy,
    /// How hooks use instances.
    pub hook_policy: Policy,
    /// A pooled instance retires after so many calls.
    pub recycle_calls: u32,
    /// A pooled instance retires at this age.
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
            instances: 4,
            queue: 64,
            queue_wait: Duration::from_secs(1),
            host_calls: 1_000,
            bytes_out: 4 << 20,
            bytes_in: 8 << 20,
            handles: 64,
            route_policy: Policy::Fresh,
            hook_policy: Policy::Pooled,
            recycle_calls: 1_000,
            recycle_age: Duration::from_secs(5 * 60),
        }
    }
}
