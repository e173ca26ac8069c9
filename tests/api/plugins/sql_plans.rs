//! Every statement of the plugins of this repository finds its rows by an index, on both engines.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use database::Engine;
use database::confined::ParamType;
use plugin_package::Manifest;
use plugin_package::manifest::Resolved;
use plugin_package::sql::Files;
use plugins::sql::{Progress, Quota, Statement, Statements, migrate};

use super::groups::all_but;
use super::sql::{ID, register};
use crate::harness::TestApp;

/// Statements that scan a whole table or index, with the reason.
const SCANS: &[(&str, &str, &str)] = &[("antennas", "tidy_removed", "removes every row")];

fn package(name: &str) -> (Manifest, Files) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins").join(name);
    let manifest = std::fs::read_to_string(folder.join("plugin.toml")).unwrap();
    let mut files = BTreeMap::new();
    for part in ["migrations", "sql"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap().map(Result::unwrap) {
            let path = format!("{part}/{}", entry.file_name().to_str().unwrap());
            files.insert(path, Arc::from(std::fs::read(entry.path()).unwrap()));
        }
    }
    (toml::from_str(&manifest).unwrap(), files)
}

async fn load(app: &TestApp, id: i64, name: &str) -> Statements {
    let (manifest, files) = package(name);
    register(app, id, name).await;
    let quota = Quota::new(app.db().clone(), id, name.to_owned(), 1 << 30);
    let mut tx = app.db().begin().await.unwrap();
    let (now, time) = (app.app.clock.now(), Duration::from_secs(60));
    migrate(&mut tx, id, &manifest, &files, now, time, &mut Progress::begin()).await.unwrap();
    let loaded =
        plugins::sql::load(&app.plugins(), quota, &manifest, &Resolved::default(), &files, &mut tx).await.unwrap();
    tx.commit().await.unwrap();
    loaded.unwrap()
}

/// Steps of a plan that scan a whole table or index.
async fn scans(app: &TestApp, statement: &Statement, tables: &[String]) -> Vec<String> {
    match app.db().engine() {
        Engine::Sqlite => {
            let text = format!("EXPLAIN QUERY PLAN {}", statement.text());
            let plan: Vec<(i64, i64, i64, String)> = app.db().fetch_raw(&text).await.unwrap();
            let steps = plan.into_iter().map(|(_, _, _, step)| step).filter(|step| !step.contains("VIRTUAL TABLE"));
            let scan =
                |step: &String| step.strip_prefix("SCAN ").is_some_and(|rest| is_table(statement.text(), rest, tables));
            steps.filter(scan).collect()
        }
        Engine::Postgres => {
            let name = format!("plan_{}", statement.name);
            let kinds: Vec<&str> = statement.bound().into_iter().map(postgres_type).collect();
            let kinds = if kinds.is_empty() { String::new() } else { format!("({})", kinds.join(", ")) };
            let nulls = vec!["NULL"; statement.bound().len()].join(", ");
            let nulls = if nulls.is_empty() { String::new() } else { format!("({nulls})") };
            let plan = explained(app, &name, &kinds, &nulls, statement.text()).await;
            plan.into_iter().filter(|step| step.contains("Seq Scan")).collect()
        }
    }
}

fn postgres_type(kind: ParamType) -> &'static str {
    match kind {
        ParamType::Boolean => "boolean",
        ParamType::Integer => "bigint",
        ParamType::Real => "double precision",
        ParamType::Text => "text",
        ParamType::Blob => "bytea",
        ParamType::Json => "jsonb",
        ParamType::Integers => "bigint[]",
        ParamType::Texts => "text[]",
    }
}

/// The plan for any values, where a sequential scan is the last resort.
async fn explained(app: &TestApp, name: &str, kinds: &str, nulls: &str, text: &str) -> Vec<String> {
    let prepare = format!(
        "DO $do$ DECLARE step TEXT; BEGIN
            DROP TABLE IF EXISTS plan_steps; CREATE TEMP TABLE plan_steps (n SERIAL, step TEXT);
            SET LOCAL enable_seqscan = off; SET LOCAL plan_cache_mode = force_generic_plan;
            EXECUTE $p$PREPARE {name} {kinds} AS {text}$p$;
            FOR step IN EXECUTE $p$EXPLAIN EXECUTE {name} {nulls}$p$ LOOP INSERT INTO plan_steps (step) VALUES (step); END LOOP;
            EXECUTE 'DEALLOCATE {name}';
            CREATE TABLE IF NOT EXISTS public.kept_steps (plan TEXT, n INTEGER, step TEXT);
            INSERT INTO public.kept_steps SELECT '{name}', s.n, s.step FROM plan_steps s;
        END $do$"
    );
    app.execute("DROP TABLE IF EXISTS public.kept_steps").await;
    app.execute(&prepare).await;
    let rows: Vec<(String,)> = app.db().fetch_raw("SELECT step FROM public.kept_steps ORDER BY n").await.unwrap();
    rows.into_iter().map(|(step,)| step).collect()
}

/// True if the first word of `rest` names one of `tables`, directly or as an alias in `text`.
fn is_table(text: &str, rest: &str, tables: &[String]) -> bool {
    let name = rest.split(' ').next().unwrap_or_default();
    let known = |word: &str| tables.iter().any(|table| table == word);
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    known(name)
        || words.windows(2).any(|pair| known(pair[0]) && pair[1] == name)
        || words.windows(3).any(|three| known(three[0]) && three[1] == "AS" && three[2] == name)
}

#[tokio::test]
async fn every_statement_of_a_shipped_plugin_finds_its_rows_by_index() {
    let app = TestApp::new().await;
    let mut found = Vec::new();
    let mut count = 0;
    // Plugins with tables.
    for (n, name) in all_but(&["profile"]).enumerate() {
        let statements = load(&app, ID + i64::try_from(n).unwrap(), name).await;
        let tables: Vec<String> = match app.db().engine() {
            Engine::Postgres => Vec::new(),
            Engine::Sqlite => {
                let rows: Vec<(String,)> =
                    app.db().fetch_raw("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").await.unwrap();
                rows.into_iter().map(|(table,)| table).collect()
            }
        };
        for statement in statements.all() {
            count += 1;
            let excused = SCANS.iter().any(|(plugin, known, _)| *plugin == name && *known == statement.name);
            for step in scans(&app, statement, &tables).await {
                if !excused {
                    found.push(format!("{name}: {}: {step}", statement.name));
                }
            }
        }
    }
    assert!(found.is_empty(), "these read a whole table or index:\n  {}", found.join("\n  "));
    assert!(count > 40, "the statements were found");
}
