//! Listeners, certificates and addresses.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::checks::Result;

/// Addresses by name, as servers print them.
pub struct Peers {
    addresses: HashMap<String, SocketAddr>,
    pub certificates: String,
}

impl Peers {
    pub fn parse(certificates: &str, words: &[String]) -> Result<Peers> {
        let mut addresses = HashMap::new();
        for word in words {
            let (name, address) = word.split_once('=').ok_or("not NAME=ADDRESS")?;
            addresses.insert(name.to_owned(), address.parse()?);
        }
        let certificates = certificates.to_owned();
        Ok(Peers {
            addresses,
            certificates,
        })
    }

    pub fn address(&self, name: &str) -> SocketAddr {
        *self
            .addresses
            .get(name)
            .unwrap_or_else(|| panic!("the server did not name {name}"))
    }

    pub async fn connect(&self, name: &str) -> Result<TcpStream> {
        let io = TcpStream::connect(self.address(name)).await?;
        io.set_nodelay(true)?;
        Ok(io)
    }

    pub async fn connect_tls(&self, name: &str) -> Result<TlsStream<TcpStream>> {
        let io = self.connect(name).await?;
        Ok(connector(&self.certificates)?
            .connect(ServerName::try_from("localhost")?, io)
            .await?)
    }
}

/// Writes `cert.pem` and `key.pem` for `localhost`.
pub fn make_certificate(dir: &str) -> Result {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names)?;
    std::fs::write(Path::new(dir).join("cert.pem"), cert.pem())?;
    std::fs::write(Path::new(dir).join("key.pem"), signing_key.serialize_pem())?;
    Ok(())
}

pub fn acceptor(dir: &str) -> Result<TlsAcceptor> {
    let chain = vec![CertificateDer::from_pem_file(
        Path::new(dir).join("cert.pem"),
    )?];
    let key = PrivateKeyDer::from_pem_file(Path::new(dir).join("key.pem"))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config).into())
}

fn connector(dir: &str) -> Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(
        Path::new(dir).join("cert.pem"),
    )?)?;
    let mut config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config).into())
}

/// A listener on a free port of the loopback, whose address is printed under `name`.
pub async fn listen(name: &str) -> Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{name}={}", listener.local_addr()?);
    Ok(listener)
}

/// Says that all listeners are there, and waits until standard input ends.
pub async fn until_told() {
    println!("ready");
    let mut rest = Vec::new();
    let _ = tokio::io::stdin().read_to_end(&mut rest).await;
}
