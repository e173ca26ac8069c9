//! The kinds of jobs, and the functions of all crates that run them.

use context::queue::kinds::all;
use context::queue::run;
use model::job::Lane;

#[test]
fn every_kind_of_job_has_its_runner() {
    for (kind, lane) in all() {
        assert_eq!(run::runner(kind).is_some(), *lane != Lane::Feed, "{kind}");
    }
    for runner in run::RUNNERS {
        assert!(all().any(|(kind, _)| *kind == runner.kind), "{}", runner.kind);
    }
}
