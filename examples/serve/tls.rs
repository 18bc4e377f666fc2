//! Owns the certificate and the settings of TLS. Knows nothing of HTTP beyond the two ALPN names.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::fault::Fault;

/// The names in a certificate made at start.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// HTTP/1.1 is offered only so that such a client can be told, in its own words, what this is.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// TLS with the given certificate and key, or with a certificate made now.
pub(crate) fn config(files: Option<(&Path, &Path)>) -> Result<Arc<ServerConfig>, Fault> {
    let (chain, key) = match files {
        Some((cert, key)) => load(cert, key)?,
        None => make()?,
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| Fault::new("cannot set up TLS", why))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|why| match why {
            rustls::Error::InvalidCertificate(why) => {
                Fault::new("cannot use this certificate", why)
            }
            why => Fault::new("cannot use this certificate with this key", why),
        })?;
    //= RFC 9113 §3.2 the name of HTTP/2 over TLS is `h2`
    config.alpn_protocols = ALPN.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}

fn load(cert: &Path, key: &Path) -> Result<Identity, Fault> {
    let fault = |what: &str, path: &Path, why: &dyn std::fmt::Display| {
        Fault::new(
            format_args!("cannot read the {what} {}", path.display()),
            why,
        )
    };
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|why| fault("certificate", cert, &why))?;
    if chain.is_empty() {
        return Err(fault("certificate", cert, &"it holds no certificate"));
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(|why| match why {
        pem::Error::NoItemsFound => fault("key", key, &"it holds no private key in PEM"),
        why => fault("key", key, &why),
    })?;
    Ok((chain, key))
}

fn make() -> Result<Identity, Fault> {
    let made = rcgen::generate_simple_self_signed(NAMES.map(String::from))
        .map_err(|why| Fault::new("cannot make a certificate", why))?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], key.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pem(dir: &Path, name: &str) -> (std::path::PathBuf, std::path::PathBuf) {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let (cert, key) = (
            dir.join(format!("{name}.crt")),
            dir.join(format!("{name}.key")),
        );
        std::fs::write(&cert, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        (cert, key)
    }

    #[test]
    fn files_are_used_when_they_fit_and_refused_when_they_do_not() {
        let dir = crate::scratch::Scratch::new("tls");
        let (cert, key) = pem(dir.path(), "a");
        let (_, other) = pem(dir.path(), "b");
        assert!(config(Some((&cert, &key))).is_ok());
        assert!(config(Some((&cert, &other))).is_err());
        assert!(config(Some((&cert, &dir.path().join("none")))).is_err());
        assert!(config(Some((&key, &key))).is_err());
    }

    #[test]
    fn without_files_a_certificate_is_made() {
        assert_eq!(
            config(None).unwrap().alpn_protocols,
            [b"h2".to_vec(), b"http/1.1".to_vec()]
        );
    }
}
