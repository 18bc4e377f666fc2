//! Rust cut into tokens, as far as the layer rule needs it: items, paths, lines.
//!
//! Does not know: any rule. It takes valid Rust; what does not compile may be cut anyhow.

use std::ops::Range;

/// Lines with code on them, between those of the outer braces.
pub(crate) fn body_lines(function: &[Token]) -> usize {
    let mut depth = 0;
    let open = function.iter().position(|token| {
        depth += token.nesting();
        depth == 1 && token.text == "{"
    });
    let (Some(open), Some(close)) = (open, function.last()) else {
        return 0;
    };
    let first = function[open].line;
    let mut lines: Vec<usize> = function[open..].iter().map(|token| token.line).collect();
    lines.dedup();
    lines
        .into_iter()
        .filter(|line| *line > first && *line < close.line)
        .count()
}

/// Whether `#![cfg(test)]` covers the file; else the items behind `#[cfg(test)]` and its like.
pub(crate) fn test_parts(tokens: &[Token]) -> (bool, Vec<Range<usize>>) {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let open = match tokens[at..].each_text()[..] {
            ["#", "[", "cfg", ..] => at + 1,
            ["#", "!", "[", "cfg"] => at + 2,
            _ => {
                at += 1;
                continue;
            }
        };
        let end = closing(tokens, open);
        let says_test = names_test(&tokens[at..end]);
        if says_test && open == at + 2 {
            return (true, Vec::new());
        }
        let start = std::mem::replace(&mut at, end);
        if says_test {
            at = item_end(tokens, end);
            parts.push(start..at);
        }
    }
    (false, parts)
}

/// Whether a `cfg` asks for `test`, and not for its absence.
fn names_test(attribute: &[Token]) -> bool {
    let is_test = |index: usize| attribute[index].text == "test";
    let is_denied = |index: usize| index >= 2 && attribute[index - 2].text == "not";
    (0..attribute.len()).any(|index| is_test(index) && !is_denied(index))
}

/// Behind the bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    let closes = |token: &Token| {
        depth += token.nesting();
        depth <= 0
    };
    tokens[open..]
        .iter()
        .position(closes)
        .map_or(tokens.len(), |found| open + found + 1)
}

/// Where the item itself begins.
pub(crate) fn behind_attributes(tokens: &[Token], start: usize) -> usize {
    let mut at = start;
    while tokens.get(at).is_some_and(|token| token.text == "#") {
        at = closing(tokens, at + 1);
    }
    at
}

fn behind_visibility(tokens: &[Token], at: usize) -> usize {
    match tokens[at..].each_text()[..] {
        ["pub", "(", "crate" | "super" | "in", ..] => closing(tokens, at + 1),
        ["pub", ..] => at + 1,
        _ => at,
    }
}

/// Behind the `;` or `}` that ends the item that begins at `start`. A field or a match arm ends at
/// its comma.
pub(crate) fn item_end(tokens: &[Token], start: usize) -> usize {
    const ITEMS: [&str; 13] = [
        "async", "const", "enum", "extern", "fn", "impl", "mod", "static", "struct", "trait",
        "type", "unsafe", "use",
    ];
    let is_item = |token: &Token| ITEMS.contains(&token.text.as_str());
    let mut at = behind_visibility(tokens, behind_attributes(tokens, start));
    let has_commas = tokens.get(at).is_some_and(is_item);
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            ";" => return at + 1,
            "," if !has_commas => return at + 1,
            "}" => return at,
            "{" => {
                let end = closing(tokens, at);
                // `use a::{b, c};` goes on behind its braces.
                let goes_on = tokens.get(end).is_some_and(|token| token.text == ";");
                return end + usize::from(goes_on);
            }
            "(" | "[" => at = closing(tokens, at),
            _ => at += 1,
        }
    }
    tokens.len()
}

/// A path as it is used, with the groups of an import taken apart.
pub(crate) struct PathUse {
    pub(crate) names: Vec<String>,
    pub(crate) token: usize,
    pub(crate) line: usize,
}

pub(crate) fn paths(tokens: &[Token]) -> Vec<PathUse> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is_name() {
            at = read_path(tokens, at, &[], &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// Reads the path at `at`, which continues `before`; answers where it ends.
fn read_path(tokens: &[Token], at: usize, before: &[String], found: &mut Vec<PathUse>) -> usize {
    let mut names = before.to_vec();
    let mut next = at;
    while let Some(token) = tokens.get(next) {
        match token.text.as_str() {
            "{" if next > at || !before.is_empty() => {
                return read_group(tokens, next, &names, found);
            }
            "*" => names.push("*".to_owned()),
            _ if token.is_name() => names.push(token.text.clone()),
            _ => break,
        }
        next += 1;
        if tokens.get(next).is_none_or(|token| token.text != "::") {
            break;
        }
        next += 1;
    }
    found.push(PathUse {
        names,
        token: at,
        line: tokens[at].line,
    });
    next.max(at + 1)
}

fn read_group(tokens: &[Token], open: usize, before: &[String], found: &mut Vec<PathUse>) -> usize {
    let end = closing(tokens, open);
    let mut at = open + 1;
    while at + 1 < end {
        at = read_path(tokens, at, before, found);
        // What follows `as` is a name of ours.
        while at + 1 < end && tokens[at].text != "," {
            at += 1;
        }
        at += 1;
    }
    end
}

/// A name, a number, a mark, or `""` for any text literal.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    pub(crate) fn is_name(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_alphabetic() || c == '_')
    }

    fn nesting(&self) -> i32 {
        match self.text.as_str() {
            "(" | "[" | "{" => 1,
            ")" | "]" | "}" => -1,
            _ => 0,
        }
    }
}

pub(crate) trait Texts {
    /// The first few texts, to be compared with a pattern.
    fn each_text(&self) -> Vec<&str>;
}

impl Texts for [Token] {
    fn each_text(&self) -> Vec<&str> {
        self.iter()
            .take(4)
            .map(|token| token.text.as_str())
            .collect()
    }
}

/// Cuts Rust into tokens. Comments vanish; literals and lifetimes lose their content.
pub(crate) fn lex(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest);
        let (token, after) = rest.split_at(length);
        let kept = match first {
            _ if first.is_whitespace() || token.starts_with("//") || token.starts_with("/*") => {
                None
            }
            '"' | '\'' => Some("\"\""),
            _ if token.ends_with(['"', '#']) && length > 1 => Some("\"\""),
            _ => Some(token),
        };
        if let Some(kept) = kept {
            tokens.push(Token {
                text: kept.to_owned(),
                line,
            });
        }
        line += token.matches('\n').count();
        rest = after;
    }
    tokens
}

fn token_length(rest: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    match (&rest[..word], &rest[word..]) {
        ("r" | "br" | "cr", raw) if raw.trim_start_matches('#').starts_with('"') => {
            word + raw_length(raw)
        }
        ("b" | "c", after) if after.starts_with('"') => word + quoted_length(after, '"'),
        ("b", after) if after.starts_with('\'') => word + quoted_length(after, '\''),
        ("", _) if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
        ("", _) if rest.starts_with("/*") => comment_length(rest),
        ("", _) if rest.starts_with('"') => quoted_length(rest, '"'),
        ("", _) if rest.starts_with('\'') => character_length(rest),
        ("", _) if rest.starts_with("::") => 2,
        ("", _) => first,
        _ => word,
    }
}

fn raw_length(raw: &str) -> usize {
    let hashes = raw.find('"').unwrap_or(0);
    let end = format!("\"{}", &raw[..hashes]);
    raw[hashes + 1..]
        .find(&end)
        .map_or(raw.len(), |at| hashes + 1 + at + end.len())
}

fn quoted_length(quoted: &str, quote: char) -> usize {
    let mut escaped = false;
    let ends = |(_, c): &(usize, char)| {
        let end = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        end
    };
    quoted
        .char_indices()
        .skip(1)
        .find(ends)
        .map_or(quoted.len(), |(at, c)| at + c.len_utf8())
}

/// A character, or a lifetime.
fn character_length(rest: &str) -> usize {
    let mut inside = rest.chars().skip(1);
    match (inside.next(), inside.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted_length(rest, '\''),
        _ => {
            1 + rest[1..]
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(0)
        }
    }
}

/// Comments nest.
fn comment_length(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let step = match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => 1,
            [b'*', b'/', ..] => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}
