//! The architecture as a test: which layer may name which, and how large things may grow.
//!
//! Reads `src/**/*.rs` and nothing else. A module names only modules of smaller layers, so the
//! crate is a line and not a web. The other rules keep any file from becoming the one that knows
//! everything. Each rule has a test in `layers/proofs.rs` that shows it can fail.

#[path = "layers/proofs.rs"]
mod proofs;
#[path = "layers/tokens.rs"]
mod tokens;

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tokens::{
    PathUse, Texts, Token, behind_attributes, body_lines, item_end, lex, paths, test_parts,
};

/// A module may name modules of a smaller layer, and itself.
const LAYERS: [(&str, u8); 13] = [
    ("sync", 0),
    ("ext", 0),
    ("frame", 1),
    ("hpack", 1),
    ("error", 2),
    ("message", 3),
    ("proto", 4),
    ("handoff", 5),
    ("driver", 6),
    ("share", 7),
    ("client", 8),
    ("server", 8),
    ("fuzzing", 9),
];
const FILE_LINES: usize = 500;
const INLINE_TEST_LINES: usize = 150;
const FUNCTION_LINES: usize = 60;
const MEDIAN_FUNCTION_LINES: usize = 8;
/// The one door to shared memory.
const SYNC: &str = "src/sync.rs";
/// Names that a drop-in has to take over.
const FOREIGN_NAMES: [&str; 1] = ["get_io"];

#[test]
fn the_crate_keeps_its_rules() {
    let faults: Vec<Fault> = sources().iter().flat_map(Source::faults).collect();
    let report: String = faults.iter().map(|fault| format!("\n  {fault}")).collect();
    assert!(faults.is_empty(), "{} faults:{report}", faults.len());
}

#[test]
fn the_median_function_is_short() {
    let median = median(&sources());
    assert!(
        median <= MEDIAN_FUNCTION_LINES,
        "the median function has {median} lines"
    );
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    assert!(files.len() > LAYERS.len(), "the sources were found");
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a source file is readable text");
        let path = file.strip_prefix(root).expect("it lies in the project");
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        Source::new(&parts.join("/"), text)
    };
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources is readable") {
        let path = entry.expect("an entry is readable").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

fn median(sources: &[Source]) -> usize {
    let mut sizes: Vec<usize> = sources
        .iter()
        .flat_map(|source| {
            source
                .functions()
                .into_iter()
                .filter(|f| !source.is_test(f.token))
        })
        .map(|function| function.lines)
        .collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied().unwrap_or(0)
}

/// A rule that a line breaks.
struct Fault {
    path: String,
    line: usize,
    rule: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.rule)
    }
}

/// One file, cut into tokens.
struct Source {
    path: String,
    text: String,
    tokens: Vec<Token>,
    /// Nothing of the file exists outside tests.
    is_test_file: bool,
    /// Tokens of items that exist only in tests.
    test_parts: Vec<Range<usize>>,
}

struct Function {
    name: String,
    token: usize,
    /// Lines of the body with code on them.
    lines: usize,
}

impl Source {
    fn new(path: &str, text: String) -> Source {
        let tokens = lex(&text);
        let is_test = |part: &str| part == "tests" || part == "tests.rs";
        let (whole, test_parts) = test_parts(&tokens);
        let is_test_file = whole || path.split('/').any(is_test);
        Source {
            path: path.to_owned(),
            text,
            tokens,
            is_test_file,
            test_parts,
        }
    }

    fn faults(&self) -> Vec<Fault> {
        let mut found = Vec::new();
        self.check_head(&mut found);
        self.check_sizes(&mut found);
        self.check_functions(&mut found);
        self.check_calls(&mut found);
        for path in paths(&self.tokens) {
            self.check_layer(&path, &mut found);
            self.check_path(&path, &mut found);
        }
        found
    }

    fn fault(&self, line: usize, rule: impl Into<String>) -> Fault {
        Fault {
            path: self.path.clone(),
            line,
            rule: rule.into(),
        }
    }

    fn check_head(&self, found: &mut Vec<Fault>) {
        if !self.text.starts_with("//! ") {
            found.push(self.fault(
                1,
                "a file begins with what it owns and must not know: `//! ..`",
            ));
        }
        for (index, line) in self.text.lines().enumerate() {
            if line.contains("TODO") || line.contains("FIXME") {
                found.push(self.fault(index + 1, "work is finished or it is an issue"));
            }
        }
    }

    fn check_sizes(&self, found: &mut Vec<Fault>) {
        let mut tests = 0;
        for part in &self.test_parts {
            let lines = self.lines_of(part);
            tests += lines;
            let item = behind_attributes(&self.tokens, part.start);
            let is_inline = self.tokens[item..part.end]
                .iter()
                .take(5)
                .any(|t| t.text == "mod")
                && self.tokens[part.end - 1].text == "}";
            if is_inline && lines > INLINE_TEST_LINES && !self.is_test_file {
                let line = self.tokens[part.start].line;
                let rule = format!("{lines} lines of inline tests; move them to `tests/`");
                found.push(self.fault(line, rule));
            }
        }
        let lines = self.text.lines().count().saturating_sub(tests);
        if lines > FILE_LINES && !self.is_test_file {
            found.push(self.fault(1, format!("{lines} lines without tests")));
        }
    }

    fn check_functions(&self, found: &mut Vec<Fault>) {
        for Function { name, token, lines } in self.functions() {
            let line = self.tokens[token].line;
            if lines > FUNCTION_LINES {
                found.push(self.fault(line, format!("`{name}` has {lines} lines")));
            }
            let is_foreign = FOREIGN_NAMES.contains(&name.as_str());
            if name.starts_with("get_") && !is_foreign && !self.is_test(token) {
                found.push(self.fault(line, format!("`{name}`: say it without `get_`")));
            }
        }
    }

    fn check_calls(&self, found: &mut Vec<Fault>) {
        for (index, window) in self.tokens.windows(4).enumerate() {
            let call = window.each_text() == [".", "unwrap", "(", ")"];
            if call && !self.is_test(index) {
                found.push(self.fault(window[0].line, "`unwrap()`"));
            }
        }
    }

    /// `crate::` paths, and `super::` paths that climb out of their module, go downwards only.
    fn check_layer(&self, path: &PathUse, found: &mut Vec<Fault>) {
        let own = self.module();
        let names: Vec<&str> = path.names.iter().map(String::as_str).collect();
        let climbs = names.iter().take_while(|name| **name == "super").count();
        let depth = self.depth() + usize::from(self.is_test(path.token) && !self.is_test_file);
        if own == "lib" {
            return;
        }
        if climbs >= depth {
            found.push(self.fault(path.line, "`super` climbs out of the layer; say `crate::`"));
        }
        let ["crate", name, ..] = names[..] else {
            return;
        };
        match (layer_of(own), layer_of(name)) {
            _ if name == own => {}
            (Some(from), Some(to)) if to < from => {}
            (None, _) => found.push(self.fault(path.line, format!("`{own}` has no layer"))),
            (_, None) => {
                let rule = format!("`crate::{name}` hides which layer is meant");
                found.push(self.fault(path.line, rule));
            }
            _ => found.push(self.fault(path.line, format!("`{own}` must not know `{name}`"))),
        }
    }

    fn check_path(&self, path: &PathUse, found: &mut Vec<Fault>) {
        if self.is_test(path.token) {
            return;
        }
        let names: Vec<&str> = path.names.iter().map(String::as_str).collect();
        if names.len() > 1 && names.ends_with(&["*"]) {
            found.push(self.fault(path.line, "a glob import hides who needs whom"));
        }
        let shares = matches!(
            names[..],
            ["std" | "core" | "alloc", "sync", ..] | ["loom", _, ..]
        );
        if shares && self.path != SYNC {
            found.push(self.fault(path.line, format!("only `{SYNC}` says std or loom")));
        }
        if names.ends_with(&["Instant", "now"]) && self.module() != "driver" {
            found.push(self.fault(
                path.line,
                "time is passed in; only `driver` reads the clock",
            ));
        }
    }

    /// The top module that the file belongs to.
    fn module(&self) -> &str {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        inner.split('/').next().unwrap_or(inner)
    }

    /// How many `super` lead from this file to the root of the crate.
    fn depth(&self) -> usize {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        inner.trim_end_matches("/mod").split('/').count()
    }

    fn is_test(&self, token: usize) -> bool {
        self.is_test_file || self.test_parts.iter().any(|part| part.contains(&token))
    }

    fn lines_of(&self, part: &Range<usize>) -> usize {
        match &self.tokens[part.clone()] {
            [first, .., last] => last.line - first.line + 1,
            _ => 0,
        }
    }

    fn functions(&self) -> Vec<Function> {
        let starts = self.tokens.windows(2).enumerate();
        starts
            .filter(|(_, pair)| pair[0].text == "fn" && pair[1].is_name())
            .map(|(token, pair)| {
                let end = item_end(&self.tokens, token);
                let lines = body_lines(&self.tokens[token..end]);
                Function {
                    name: pair[1].text.clone(),
                    token,
                    lines,
                }
            })
            .collect()
    }
}

fn layer_of(module: &str) -> Option<u8> {
    LAYERS
        .iter()
        .find(|(name, _)| *name == module)
        .map(|(_, layer)| *layer)
}
