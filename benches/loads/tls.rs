//! One certificate for all servers of a run, and the two ends' settings.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::Failure;

/// Where the bench that runs leaves its files.
pub(crate) fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

pub(crate) fn certificate() -> PathBuf {
    scratch().join("bench.crt")
}

pub(crate) fn key() -> PathBuf {
    scratch().join("bench.key")
}

/// Makes the certificate.
pub(crate) fn make() -> Result<(), Failure> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    fs::create_dir_all(scratch())?;
    fs::write(certificate(), made.cert.pem())?;
    fs::write(key(), made.signing_key.serialize_pem())?;
    Ok(())
}

pub(crate) fn acceptor(protocol: &[u8]) -> Result<TlsAcceptor, Failure> {
    let chain = vec![CertificateDer::from_pem_file(certificate())?];
    let key = PrivateKeyDer::from_pem_file(key())?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(Arc::new(config).into())
}

pub(crate) fn connector(protocol: &[u8]) -> Result<TlsConnector, Failure> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate())?)?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(Arc::new(config).into())
}
