//! Owns the way to a server: TCP, TLS, the beginning of HTTP/2. Knows nothing of downloads.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::target::Origin;
use fairmux::{Error, client};

/// How long a server may take to say hello.
const HELLO: Duration = Duration::from_secs(15);

/// What may be on its way to us, of one download and of all of a connection.
const WINDOWS: (u32, u32) = (1024 * 1024, 8 * 1024 * 1024);

/// Opens streams.
pub(crate) type Requests = client::SendRequest<Bytes>;

/// A connection: what opens streams, and the task that moves the bytes.
pub(crate) type Connected = (Requests, JoinHandle<Result<(), Error>>);

type Failure = Box<dyn std::error::Error>;

/// TLS that trusts the system's roots, or anybody.
pub(crate) fn tls(insecure: bool) -> Result<Arc<ClientConfig>, Failure> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let mut config = if insecure {
        let anybody = Arc::new(Anybody(provider));
        builder
            .dangerous()
            .with_custom_certificate_verifier(anybody)
            .with_no_client_auth()
    } else {
        builder
            .with_root_certificates(roots()?)
            .with_no_client_auth()
    };
    //= RFC 9113 §3.2 the name of HTTP/2 over TLS is `h2`
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

/// Connects to `origin`, which must be there within a few seconds.
pub(crate) async fn connect(
    origin: &Origin,
    tls: Option<Arc<ClientConfig>>,
) -> Result<Connected, String> {
    match timeout(HELLO, open(origin, tls)).await {
        Ok(Ok(connected)) => Ok(connected),
        Ok(Err(why)) => Err(format!(
            "cannot connect to {origin}: {why}{}",
            advice(&*why)
        )),
        Err(_) => Err(format!("cannot connect to {origin}: no answer in time")),
    }
}

/// What to try instead, if TLS is what failed.
fn advice(why: &(dyn std::error::Error + 'static)) -> &'static str {
    let inner = why.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    match inner.and_then(|why| why.downcast_ref()) {
        Some(rustls::Error::InvalidCertificate(_)) => " (--insecure trusts any)",
        Some(rustls::Error::InvalidMessage(_)) => " (is it http:// that is spoken there?)",
        _ => "",
    }
}

async fn open(origin: &Origin, tls: Option<Arc<ClientConfig>>) -> Result<Connected, Failure> {
    let stream = TcpStream::connect((origin.host.as_str(), origin.port)).await?;
    stream.set_nodelay(true)?;
    let Some(tls) = tls.filter(|_| origin.secure) else {
        return begin(stream).await;
    };
    let name = ServerName::try_from(origin.host.clone())?;
    let stream = TlsConnector::from(tls).connect(name, stream).await?;
    if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
        return Err("the server does not speak HTTP/2".into());
    }
    begin(stream).await
}

async fn begin<T>(stream: T) -> Result<Connected, Failure>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (requests, connection) = client::Builder::new()
        .enable_push(false)
        .initial_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .handshake(stream)
        .await?;
    Ok((requests, tokio::spawn(connection)))
}

fn roots() -> Result<RootCertStore, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        return Err(match found.errors.into_iter().next() {
            Some(why) => why.into(),
            None => io::Error::other("the system trusts no certificate authority").into(),
        });
    }
    Ok(roots)
}

/// Trusts every certificate, but not every signature: the server must own the one it shows.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
