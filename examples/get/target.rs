//! Owns what a URL says: where to connect, what to ask for, what to call the file. Pure.

use std::fmt;

use http::Uri;

/// Where a connection goes. One connection serves all URLs of an origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) secure: bool,
    /// Without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// One thing to download.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) origin: Origin,
    pub(crate) uri: Uri,
    /// What the file is called; no path leads anywhere else.
    pub(crate) name: String,
}

impl Target {
    /// Understands `url`, or says in a few words what is wrong with it.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|why| format!("{why}"))?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) => return Err("only https and http are spoken here".into()),
            None => return Err("it has no scheme, such as https://".into()),
        };
        let authority = uri.authority().ok_or("it names no host")?;
        if authority.as_str().contains('@') {
            return Err("a user and password are not sent".into());
        }
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']');
        if host.is_empty() {
            return Err("it names no host".into());
        }
        let port = authority
            .port_u16()
            .unwrap_or(if secure { 443 } else { 80 });
        let origin = Origin {
            secure,
            host: host.to_ascii_lowercase(),
            port,
        };
        let name = name(uri.path());
        Ok(Self { origin, uri, name })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

/// Gives targets of the same name different ones: `a`, `a.1`, `a.2`.
pub(crate) fn tell_apart(targets: &mut [Target]) {
    let mut taken = std::collections::HashSet::new();
    for target in targets {
        let mut name = target.name.clone();
        let mut count = 0;
        while !taken.insert(name.clone()) {
            count += 1;
            name = format!("{}.{count}", target.name);
        }
        target.name = name;
    }
}

/// The last segment of a path, if it is fit to name a file. The encoding stays: it is safe.
fn name(path: &str) -> String {
    match path.rsplit('/').next() {
        None | Some("" | "." | "..") => "index.html".into(),
        Some(last) => last.replace('\\', "_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Target {
        Target::parse(url).unwrap()
    }

    #[test]
    fn origins() {
        assert_eq!(
            target("https://A.example/x").origin.to_string(),
            "https://a.example:443"
        );
        assert_eq!(target("http://a:81/x").origin.to_string(), "http://a:81");
        assert_eq!(target("http://[::1]:8080/").origin.host, "::1");
        assert_eq!(
            target("http://[::1]:8080/").origin.to_string(),
            "http://[::1]:8080"
        );
        assert_eq!(target("http://a/x").origin, target("http://A:80/y").origin);
    }

    #[test]
    fn what_is_no_url_for_us_is_refused() {
        for url in [
            "",
            "a",
            "/a",
            "a/b",
            "ftp://a/b",
            "http://",
            "http://u:p@a/",
            "http://a b/",
        ] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn names_stay_in_the_directory() {
        assert_eq!(target("http://a/b/c.txt?d=/e").name, "c.txt");
        assert_eq!(target("http://a").name, "index.html");
        assert_eq!(target("http://a/b/").name, "index.html");
        assert_eq!(target("http://a/b/..").name, "index.html");
        assert_eq!(target("http://a/%2e%2e%2fx").name, "%2e%2e%2fx");
    }

    #[test]
    fn same_names_are_told_apart() {
        let mut targets =
            ["http://a/x", "http://a/b/x", "http://a/x.1", "http://a/c/x"].map(target);
        tell_apart(&mut targets);
        assert_eq!(
            targets.map(|target| target.name),
            ["x", "x.1", "x.1.1", "x.2"]
        );
    }
}
