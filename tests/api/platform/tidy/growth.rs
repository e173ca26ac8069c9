//! `docs/growth.md` has a row for each table of the schema, and no other.

use std::collections::BTreeSet;

#[test]
fn growth_of_every_table_is_described() {
    let schema = include_str!("../../../frozen/schema/sqlite.txt");
    let tables: BTreeSet<&str> = schema
        .lines()
        .filter_map(|line| line.strip_prefix("table ")?.split_once(": "))
        .map(|(table, _)| table)
        .collect();
    assert!(tables.len() > 100, "the schema was read");
    let mut described = BTreeSet::new();
    for line in include_str!("../../../../docs/growth.md").lines() {
        let Some((table, rest)) = line.strip_prefix("| `").and_then(|row| row.split_once("` | ")) else { continue };
        let cells: Vec<&str> = rest.trim_end_matches(" |").split(" | ").collect();
        assert!(cells.len() == 2 && cells.iter().all(|cell| !cell.is_empty()), "{table}: {cells:?}");
        assert!(described.insert(table), "{table} is described twice");
    }
    let missing: Vec<_> = tables.difference(&described).collect();
    let gone: Vec<_> = described.difference(&tables).collect();
    assert!(missing.is_empty(), "docs/growth.md does not describe {missing:?}");
    assert!(gone.is_empty(), "docs/growth.md describes {gone:?}, which are not tables");
}
