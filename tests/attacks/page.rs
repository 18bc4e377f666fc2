//! The table of rows, and `docs/security.md`, which must say the same.

use std::collections::BTreeSet;

use crate::ROWS;

const PAGE: &str = include_str!("../../docs/security.md");
/// How many kinds of attack there are.
const ATTACKS: usize = 48;

pub(crate) fn no_row_is_left_out() {
    let numbers: Vec<usize> = ROWS.iter().map(|row| row.number).collect();
    assert_eq!(numbers, (1..=ATTACKS).collect::<Vec<_>>());
    let names: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), ATTACKS, "no test counts twice");
}

/// What the page says in code and with a pair of parentheses is an option.
pub(crate) fn the_page_names_real_options() {
    const SOURCES: [&str; 4] = [
        include_str!("../../src/share/builder.rs"),
        include_str!("../../src/share/limits.rs"),
        include_str!("../../src/client/builder.rs"),
        include_str!("../../src/server/builder.rs"),
    ];
    let words = PAGE.split('`').skip(1).step_by(2);
    let options: BTreeSet<&str> = words.filter_map(|word| word.strip_suffix("()")).collect();
    assert!(options.len() > 20, "{options:?}");
    for option in options {
        let declaration = format!("pub fn {option}(");
        let is_there = SOURCES.iter().any(|source| source.contains(&declaration));
        assert!(is_there, "there is no option {option}");
    }
}

/// Each row of the table on the page begins with the number and ends with the test.
pub(crate) fn the_page_names_each_row() {
    let rows = PAGE.lines().filter_map(|line| {
        let mut cells = line.trim_matches(['|', ' ']).split('|').map(str::trim);
        let number: usize = cells.next()?.parse().ok()?;
        Some((number, cells.next_back()?.trim_matches('`').to_owned()))
    });
    let expected = ROWS.iter().map(|row| (row.number, row.name.to_owned()));
    assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
