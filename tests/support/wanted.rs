//! Which tests were asked for, of a target that has its own `main`.

/// Whether the first word of the command line, if there is one, is a part of the name.
pub(crate) fn is_wanted(name: &str) -> bool {
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    wanted.is_none_or(|part| name.contains(&part))
}
