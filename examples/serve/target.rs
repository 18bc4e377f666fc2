//! Owns the way from a request's path to a file of the directory. Nothing leads out of the
//! directory, neither `..` nor an encoded slash nor a symbolic link, and nothing whose name begins
//! with a dot is reached.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

/// What a path leads to.
#[derive(Debug)]
pub(crate) enum Found {
    /// A regular file, open.
    File(File, Box<Metadata>, PathBuf),
    /// A directory asked for without its final slash: relative links would go wrong.
    Directory,
}

/// The relative path that `path` of a URI names, or `None` if it can name nothing here.
pub(crate) fn relative(path: &str) -> Option<PathBuf> {
    let mut relative = PathBuf::new();
    let path = path.strip_prefix('/')?;
    let (path, directory) = match path.strip_suffix('/') {
        Some(path) => (path, true),
        None => (path, false),
    };
    for segment in path.split('/') {
        relative.push(name(segment)?);
    }
    if directory {
        relative.push("index.html");
    }
    Some(relative)
}

/// Opens what `relative` names below `root`, which is a canonical path. Blocks.
///
/// The canonical name is checked and then opened: who can swap links inside the directory while a
/// request runs is its owner, against whom this is no defence.
pub(crate) fn open(root: &Path, relative: &Path) -> io::Result<Found> {
    let path = root.join(relative).canonicalize()?;
    let inside = path
        .strip_prefix(root)
        .map_err(|_| io::ErrorKind::NotFound)?;
    if inside.components().any(|part| !is_plain(part)) {
        return Err(io::ErrorKind::NotFound.into());
    }
    // Asked before it is opened: opening a pipe would wait for its writer.
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Ok(Found::Directory);
    }
    if !metadata.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = File::open(&path)?;
    let metadata = file.metadata()?;
    Ok(Found::File(file, Box::new(metadata), path))
}

fn is_plain(part: Component<'_>) -> bool {
    matches!(part, Component::Normal(name) if !name.as_encoded_bytes().starts_with(b"."))
}

/// One segment as a file's name.
fn name(segment: &str) -> Option<String> {
    let name = decode(segment)?;
    let forbidden = |c| matches!(c, '/' | '\\' | '\0');
    (!name.is_empty() && !name.starts_with('.') && !name.contains(forbidden)).then_some(name)
}

/// Takes the percent-encoding away.
fn decode(segment: &str) -> Option<String> {
    if !segment.contains('%') {
        return Some(segment.to_owned());
    }
    let mut bytes = segment.bytes();
    let mut decoded = Vec::with_capacity(segment.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn plain_paths_and_encoded_ones_name_files() {
        assert_eq!(relative("/a/b.txt"), Some("a/b.txt".into()));
        assert_eq!(relative("/a%20b/%C3%A9"), Some("a b/é".into()));
        assert_eq!(relative("/a/"), Some("a/index.html".into()));
    }

    #[test]
    fn what_leads_out_or_is_hidden_names_nothing() {
        for path in [
            "",
            "a",
            "/..",
            "/../a",
            "/a/../b",
            "/.",
            "/a/./b",
            "/.git/config",
            "/a/.b",
            "//a",
            "/a//b",
            "/%2e%2e/a",
            "/%2E./a",
            "/a%2fb",
            "/a%5cb",
            "/a%00",
            "/a%",
            "/a%2",
            "/a%zz",
            "/%ff",
            "*",
        ] {
            assert_eq!(relative(path), None, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_or_to_hidden_files_are_not_found() {
        use std::os::unix::fs::symlink;
        let scratch = Scratch::new("target");
        let root = scratch.path().join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::write(scratch.path().join("secret"), "s").unwrap();
        std::fs::write(root.join(".hidden"), "h").unwrap();
        std::fs::write(root.join("sub/plain"), "p").unwrap();
        symlink(scratch.path().join("secret"), root.join("out")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink(".hidden", root.join("dot")).unwrap();
        symlink("sub/plain", root.join("in")).unwrap();
        for path in ["out", "up/secret", "dot", "none", "sub/plain/x"] {
            assert!(open(&root, Path::new(path)).is_err(), "{path}");
        }
        assert!(matches!(open(&root, Path::new("in")), Ok(Found::File(..))));
        assert!(matches!(
            open(&root, Path::new("sub")),
            Ok(Found::Directory)
        ));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let scratch = Scratch::new("socket");
        let _listener = std::os::unix::net::UnixListener::bind(scratch.path().join("s")).unwrap();
        assert!(open(scratch.path(), Path::new("s")).is_err());
    }
}
