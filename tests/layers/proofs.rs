//! Each rule can fail: a source that breaks it, and its neighbour that keeps it.

use super::{FILE_LINES, FUNCTION_LINES, INLINE_TEST_LINES, SYNC, Source, median};

/// The rules that one file breaks, without the one about its head.
fn broken(path: &str, text: &str) -> Vec<String> {
    let source = Source::new(path, format!("//! Head.\n{text}"));
    source
        .faults()
        .into_iter()
        .map(|fault| fault.rule)
        .collect()
}

#[track_caller]
fn assert_broken(path: &str, text: &str, rule: &str) {
    let found = broken(path, text);
    assert!(
        matches!(&found[..], [only] if only.contains(rule)),
        "{path}: {text}: {found:?}"
    );
}

#[track_caller]
fn assert_kept(path: &str, text: &str) {
    assert_eq!(broken(path, text), [""; 0], "{path}: {text}");
}

#[test]
fn upward_and_sideward_paths_are_found() {
    let rule = "must not know";
    assert_broken("src/frame/x.rs", "use crate::proto::Connection;", rule);
    assert_broken("src/frame/x.rs", "fn f() { crate::hpack::g() }", rule);
    assert_broken("src/client/x.rs", "use crate::server::A;", rule);
    assert_broken("src/server/mod.rs", "use crate::client;", rule);
    assert_broken(
        "src/proto/x.rs",
        "use crate::{error::Error, handoff::{self as h}, frame::{A, B}};",
        rule,
    );
    assert_broken("src/proto/tests/x.rs", "use crate::driver::Driver;", rule);
    assert_broken("src/ext.rs", "pub(in crate::share) fn f() {}", rule);
    assert_broken(
        "src/frame/x.rs",
        "#[cfg(test)]\nmod t { use crate::error::E; }",
        rule,
    );
    assert_broken("src/frame/x.rs", "use crate::Error;", "hides which layer");
    assert_broken("src/news/x.rs", "use crate::sync::Arc;", "has no layer");
}

#[test]
fn downward_paths_are_kept() {
    assert_kept(
        "src/client/x.rs",
        "use crate::{driver::D, share::{A as B, C}, sync};",
    );
    assert_kept(
        "src/proto/recv.rs",
        "use crate::proto::x::Y; use super::z; pub(crate) fn f() {}",
    );
    assert_kept("src/lib.rs", "pub use crate::error::Error; mod client;");
    assert_kept(
        "src/frame/x.rs",
        "/// Like [`crate::client::A`].\n// crate::server\nfn f() {}",
    );
    assert_kept(
        "src/frame/x.rs",
        r##"const A: &str = "crate::server"; const B: &str = r#"""#;"##,
    );
}

#[test]
fn climbing_out_of_a_layer_is_found() {
    let rule = "climbs out";
    assert_broken("src/frame/mod.rs", "use super::client::A;", rule);
    assert_broken("src/frame/x.rs", "use super::super::client::A;", rule);
    assert_broken("src/ext.rs", "use super::client::A;", rule);
    assert_kept("src/frame/x.rs", "use super::Kind;");
    assert_kept("src/frame/tests/x.rs", "use super::super::Kind;");
    assert_kept(
        "src/frame/mod.rs",
        "#[cfg(test)]\nmod tests { use super::Kind; }",
    );
}

#[test]
fn long_files_are_found() {
    let lines = |count: usize| "const A: u8 = 0;\n".repeat(count);
    assert_broken("src/frame/x.rs", &lines(FILE_LINES), "lines without tests");
    assert_kept("src/frame/x.rs", &lines(FILE_LINES - 1));
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(100));
    assert_kept(
        "src/frame/x.rs",
        &format!("{}{tests}", lines(FILE_LINES - 1)),
    );
    assert_kept("src/frame/tests/x.rs", &lines(FILE_LINES * 2));
}

#[test]
fn long_inline_tests_are_found() {
    let tests = |cfg: &str, count: usize| {
        format!(
            "#[cfg({cfg})]\nmod tests {{\n{}}}\n",
            "const A: u8 = 0;\n".repeat(count)
        )
    };
    let rule = "lines of inline tests";
    assert_broken("src/frame/x.rs", &tests("test", INLINE_TEST_LINES), rule);
    assert_broken(
        "src/frame/x.rs",
        &tests("all(test, fairmux_loom)", INLINE_TEST_LINES),
        rule,
    );
    assert_kept("src/frame/x.rs", &tests("test", INLINE_TEST_LINES - 3));
    assert_kept("src/frame/x.rs", &tests("not(test)", INLINE_TEST_LINES));
}

#[test]
fn long_functions_are_found() {
    let function = |count: usize| {
        let body = "    let _ = '}';\n    // a word\n\n".repeat(count);
        format!("impl A {{\nfn f<'a>(a: [u8; 2])\nwhere\n    A: B,\n{{\n{body}}}\n}}\n")
    };
    assert_broken(
        "src/frame/x.rs",
        &function(FUNCTION_LINES + 1),
        "has 61 lines",
    );
    assert_kept("src/frame/x.rs", &function(FUNCTION_LINES));
    let sources = [Source::new(
        "src/frame/x.rs",
        function(9) + &function(12) + &function(1),
    )];
    assert_eq!(median(&sources), 9);
}

#[test]
fn forbidden_words_are_found() {
    assert_broken("src/frame/x.rs", "fn f() { a().unwrap() }", "unwrap");
    assert_broken("src/frame/x.rs", "// TODO: later", "finished");
    assert_broken(
        "src/frame/x.rs",
        "#[cfg(test)]\nmod t { // FIXME\n}",
        "finished",
    );
    assert_broken("src/frame/x.rs", "fn get_length() {}", "get_");
    assert_broken("src/frame/x.rs", "use super::*;", "glob");
    assert_broken("src/frame/x.rs", "use super::{a::{b, *}, c};", "glob");
    assert_kept(
        "src/frame/x.rs",
        "fn f() { a.unwrap_or(b * c); x.get_mut(); }",
    );
    assert_kept("src/error/mod.rs", "pub fn get_io(&self) {}");
    assert_kept(
        "src/frame/x.rs",
        "#[cfg(test)]\nmod t { use super::*; fn f() { a.unwrap() } }",
    );
    assert_broken(
        "src/frame/x.rs",
        "#[cfg(test)]\nuse a::{b, c};\nfn f() { a.unwrap() }",
        "unwrap",
    );
    assert_broken(
        "src/frame/x.rs",
        "struct A { #[cfg(test)] b: u8, c: D<{ e.unwrap() }> }",
        "unw",
    );
}

#[test]
fn shared_memory_and_the_clock_are_found() {
    let door = "says std or loom";
    assert_broken("src/handoff/x.rs", "use std::sync::Arc;", door);
    assert_broken(
        "src/handoff/x.rs",
        "use std::{fmt, sync::atomic::AtomicBool};",
        door,
    );
    assert_broken("src/handoff/x.rs", "fn f() { ::loom::model(g) }", door);
    assert_kept(
        SYNC,
        "pub(crate) use std::sync::Arc; use loom::sync::Mutex;",
    );
    assert_kept(
        "src/handoff/x.rs",
        "#[cfg(fairmux_loom)]\nuse crate::sync::Arc;",
    );
    assert_kept("src/handoff/tests/loom_x.rs", "fn f() { loom::model(g) }");
    let clock = "reads the clock";
    assert_broken("src/proto/x.rs", "fn f() { Instant::now() }", clock);
    assert_broken(
        "src/proto/x.rs",
        "fn f() { std::time::Instant::now() }",
        clock,
    );
    assert_kept("src/driver/x.rs", "fn f() { Instant::now() }");
    assert_kept("src/proto/x.rs", "fn f(now: Instant) -> Instant { now }");
}

#[test]
fn a_file_without_a_head_is_found() {
    let faults = Source::new("src/frame/x.rs", "use super::a;\n".to_owned()).faults();
    assert_eq!(faults.len(), 1);
    assert!(
        faults[0]
            .to_string()
            .starts_with("src/frame/x.rs:1: a file begins with")
    );
}

#[test]
fn test_parts_end_where_the_item_ends() {
    let after = "fn f() { a.unwrap() }";
    for part in [
        "#[cfg(test)] mod tests;",
        "#[cfg(test)] pub(crate) async fn g<A, B>(a: [u8; 2]) -> C { d.unwrap() }",
        "#[cfg(test)] #[expect(x, reason = \"y\")] pub(super) use a::{b, c};",
        "#[cfg(test)] static A: [u8; 2] = [1, 2];",
        "struct A { #[cfg(test)] pub(crate) b: C<u8>, d: u8 }",
        "struct A { d: u8, #[cfg(test)] b: u8 }",
        "fn g() { match a { #[cfg(test)] B(c, d) => e.unwrap(), _ => f } }",
        "#[cfg(any(test, fuzzing))] impl A { fn g() { b.unwrap() } }",
    ] {
        assert_broken("src/frame/x.rs", &format!("{part} {after}"), "unwrap");
    }
    assert_kept("src/frame/x.rs", &format!("#![cfg(test)]\n{after} {after}"));
}

#[test]
fn what_is_no_code_is_no_fault() {
    for text in [
        "fn f<'a>(a: &'a str) -> char { '\\'' }",
        "const A: &str = \"a \\\" .unwrap() \";",
        "const A: &[u8] = br##\"\"# .unwrap() \"##;",
        "const A: (u8, &[u8]) = (b'\"', b\".unwrap()\");",
        "/* a /* nested */ .unwrap() */",
        "//// .unwrap()\n/// use crate::server::*;",
        "const A: [char; 3] = ['\"', '{', '\\u{7f}'];",
    ] {
        let closed = format!("{text}\nfn g() {{ a.unwrap() }}");
        assert_kept("src/frame/x.rs", text);
        assert_broken("src/frame/x.rs", &closed, "unwrap");
    }
}
