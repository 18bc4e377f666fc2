//! Keeps `docs/rfc9113.md` true: what it names exists, and what exists is named there. Of the other
//! pages, that the tests which they name exist.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rules of the checklist.
const RULES: u32 = 144;

/// One line of a table of the page.
#[derive(Debug)]
struct Row {
    rule: Option<u32>,
    /// As it is cited: `RFC 9113 §6.1`.
    section: String,
    code: Vec<String>,
    tests: Vec<String>,
}

/// The page: the rows of its tables, and the rules that it makes exceptions of.
struct Page {
    text: String,
    rows: Vec<Row>,
    exceptions: BTreeSet<u32>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn page() -> Page {
    let text = read("docs/rfc9113.md");
    let (tables, exceptions) = text.split_once("## Exceptions").expect("the exceptions");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let rows = tables
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('§'));
    let rows = rows.map(cells).map(|cells| Row {
        rule: cells[0].parse().ok(),
        section: cells[1].clone(),
        code: quoted(&cells[3]),
        tests: quoted(&cells[4]),
    });
    let rows = rows.collect();
    let excepted = exceptions.lines().filter(|line| line.starts_with("| "));
    let excepted = excepted
        .filter_map(|line| cells(line)[0].parse().ok())
        .collect();
    Page {
        exceptions: excepted,
        rows,
        text: text.clone(),
    }
}

/// The tests of `tests/rfc9113/`, `file::function`, each with the sections that it cites.
fn tests() -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for path in files_under("tests/rfc9113") {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut cited = Vec::new();
        let mut is_test = false;
        for line in read(&path).lines() {
            if let Some(section) = line.strip_prefix("//= test ") {
                cited.push(section.to_owned());
            } else if line == "#[test]" {
                is_test = true;
            } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| is_test) {
                let name = rest.split('(').next().unwrap();
                all.insert(format!("{stem}::{name}"), std::mem::take(&mut cited));
                is_test = false;
            }
        }
        assert!(
            cited.is_empty(),
            "{}: citations of no test: {cited:?}",
            path.display()
        );
    }
    all
}

fn files_under(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Whether a text cites exactly this section, by `//= RFC 9113 §6.1` and not by `§6.1.2`.
fn cites(text: &str, section: &str) -> bool {
    let (rfc, number) = section.split_once(" §").unwrap();
    let lines = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("//= "));
    lines.filter_map(|line| line.strip_prefix(rfc)).any(|rest| {
        let numbers = rest.split('§').skip(1);
        let exact = |n: &str| n.trim_end_matches([':', ',', '.', ';', ')']) == number;
        numbers
            .filter_map(|n| n.split_whitespace().next())
            .any(exact)
    })
}

#[test]
fn every_rule_has_a_row_or_a_reason() {
    let page = page();
    let rows: BTreeSet<u32> = page.rows.iter().filter_map(|row| row.rule).collect();
    let missing: Vec<_> = (1..=RULES)
        .filter(|n| !rows.contains(n) && !page.exceptions.contains(n))
        .collect();
    assert!(
        missing.is_empty(),
        "rules that the page leaves out: {missing:?}"
    );
    assert!(
        rows.iter()
            .chain(&page.exceptions)
            .all(|n| (1..=RULES).contains(n))
    );
}

#[test]
fn the_number_of_rules_with_a_test_is_right() {
    let page = page();
    let tested = page.rows.iter().filter(|row| !row.tests.is_empty());
    let tested: BTreeSet<u32> = tested.filter_map(|row| row.rule).collect();
    let count = tested.difference(&page.exceptions).count();
    let exceptions = page.exceptions.len();
    assert_eq!(
        count + exceptions,
        RULES as usize,
        "rules are left out or counted twice"
    );
    let said = format!("{count} of {RULES} rules have a test; {exceptions} ");
    assert!(page.text.contains(&said), "the page does not say: {said}");
}

#[test]
fn every_row_names_tests_that_exist_and_cite_its_section() {
    let tests = tests();
    for row in page().rows {
        assert!(!row.tests.is_empty(), "no test: {row:?}");
        for name in &row.tests {
            let cited = tests
                .get(name)
                .unwrap_or_else(|| panic!("no such test: {name}"));
            assert!(
                cited.contains(&row.section),
                "{name} does not cite {}",
                row.section
            );
        }
    }
}

#[test]
fn every_test_is_on_the_page_under_each_section_that_it_cites() {
    let rows = page().rows;
    for (name, cited) in tests() {
        assert!(!cited.is_empty(), "{name} cites nothing");
        for section in cited {
            let found = rows
                .iter()
                .any(|row| row.section == section && row.tests.contains(&name));
            assert!(found, "{name} is not on the page under {section}");
        }
    }
}

#[test]
fn every_row_names_code_that_cites_its_section() {
    let files: Vec<_> = [files_under("src"), files_under("examples")].concat();
    let texts: Vec<_> = files.iter().map(|path| (path, read(path))).collect();
    let mut wrong = Vec::new();
    for row in page().rows {
        assert!(!row.code.is_empty(), "no code: {row:?}");
        for file in row
            .code
            .iter()
            .filter(|file| !is_cited_in(&texts, &row.section, file))
        {
            let found = texts.iter().filter(|(_, text)| cites(text, &row.section));
            let found: Vec<_> = found
                .map(|(path, _)| path.strip_prefix(root()).unwrap())
                .collect();
            wrong.push(format!(
                "{file} does not cite {}; these do: {found:?}",
                row.section
            ));
        }
    }
    assert!(wrong.is_empty(), "rules that moved:\n{}", wrong.join("\n"));
}

fn is_cited_in(texts: &[(&PathBuf, String)], section: &str, file: &str) -> bool {
    let path = root().join(file);
    texts
        .iter()
        .any(|(at, text)| **at == path && cites(text, section))
}

/// The names in a page that read as those of tests: a sentence in small letters, in backticks.
fn named_tests(page: &str) -> Vec<&str> {
    let is_name = |word: &&str| {
        let is_small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        word.chars().all(is_small) && word.matches('_').count() >= 3
    };
    page.split('`').skip(1).step_by(2).filter(is_name).collect()
}

/// The names of all functions of the project.
fn functions() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for folder in ["src", "tests", "examples", "benches"] {
        for path in files_under(folder) {
            for line in read(path).lines() {
                let behind = line.trim_start().split("fn ").nth(1).unwrap_or_default();
                let name = behind.split(['(', '<']).next().unwrap_or_default();
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn every_test_that_a_page_names_exists() {
    let functions = functions();
    let mut count = 0;
    let mut missing = Vec::new();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "md") {
            let text = read(&path);
            for name in named_tests(&text) {
                count += 1;
                if !functions.contains(name) {
                    missing.push(format!("{}: {name}", path.display()));
                }
            }
        }
    }
    assert!(count > 60, "the pages name {count} tests");
    assert!(missing.is_empty(), "no such tests:\n{}", missing.join("\n"));
}

/// Each row of the page of invariants has code, and a test, a check or a reason.
#[test]
fn every_invariant_names_code_that_exists() {
    let sources: String = files_under("src").iter().map(read).collect();
    let words: BTreeSet<&str> = sources
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let page = read("docs/invariants.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    for row in rows.clone() {
        let code = row.split('|').nth(1).unwrap();
        for name in code.split('`').skip(1).step_by(2) {
            let word = name.rsplit("::").next().unwrap();
            assert!(words.contains(word), "{name} is not in the sources: {row}");
        }
    }
    assert!(rows.count() > 25, "the rows were found");
}

#[test]
fn a_page_that_names_no_test_is_found() {
    let page =
        "| `Connection::settle` | `max_frames` | `a_test_that_never_was`, `src/a_b_c_d.rs` |";
    assert_eq!(named_tests(page), ["a_test_that_never_was"]);
    assert!(!functions().contains("a_test_that_never_was".to_owned().as_str()));
    assert!(functions().contains("a_page_that_names_no_test_is_found"));
}
