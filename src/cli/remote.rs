//! Talking to a running server: one connection, one call.

use std::future::Future;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use clap::Args;
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::body::Body;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt as _;

use super::{Failure, input};
use crate::pb;
use crate::pb::bot_service_client::BotServiceClient;

/// How a server is spoken to.
#[derive(Args, Clone, Debug, Default)]
pub struct Manner {
    /// Certificates to trust, PEM; turns TLS on
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// Our certificate chain, PEM, where the server asks for one
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "tls_ca")]
    pub tls_cert: Option<PathBuf>,
    /// Its private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// A file with the bearer token
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// How long connecting and each call may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// A connection as tonic's clients want it.
#[derive(Clone)]
struct Wire(http2::SendRequest<Body>);

impl tower::Service<http::Request<Body>> for Wire {
    type Response = http::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}

/// Sends one request and waits for the answer.
///
/// # Errors
/// When there is no server, and for every status but OK.
pub fn decide(address: &str, manner: &Manner, request: pb::DecideRequest) -> Result<pb::DecideResponse, Failure> {
    let token = manner.token_file.as_deref().map(token).transpose()?;
    block_on(async {
        let (wire, origin) = connect(address, manner).await?;
        let mut request = Request::new(request);
        request.set_timeout(PATIENCE);
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse();
            let value = value.map_err(|_| Failure::input("the token holds characters that no header may hold"))?;
            request.metadata_mut().insert("authorization", value);
        }
        let answer = BotServiceClient::with_origin(wire, origin).decide(request).await;
        answer.map(tonic::Response::into_inner).map_err(|status| failure(&status))
    })
}

/// One health check; `Ok` when the server is SERVING.
///
/// # Errors
/// When there is no server or it says anything else.
pub fn check(address: &str, manner: &Manner, service: &str) -> Result<(), Failure> {
    block_on(async {
        let (wire, origin) = connect(address, manner).await?;
        let mut request = Request::new(HealthCheckRequest { service: service.to_owned() });
        request.set_timeout(PATIENCE);
        let answer = HealthClient::with_origin(wire, origin).check(request).await;
        let status = answer.map_err(|status| Failure::failed(described(&status)))?.into_inner().status();
        if status == ServingStatus::Serving { Ok(()) } else { Err(Failure::failed(status.as_str_name())) }
    })
}

fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("no runtime: {error}")))?;
    runtime.block_on(async {
        let late = || Failure::failed(format!("no answer within {PATIENCE:?}"));
        tokio::time::timeout(PATIENCE, work).await.map_err(|_| late())?
    })
}

/// Opens the connection; the origin is what requests name as scheme and authority.
async fn connect(address: &str, manner: &Manner) -> Result<(Wire, http::Uri), Failure> {
    let (scheme, authority) = address.split_once("://").unwrap_or(("", address));
    let tls = match scheme {
        "https" => true,
        "http" => false,
        "" => manner.tls_ca.is_some(),
        _ => return Err(Failure::input(format!("{address}: {scheme} is neither http nor https"))),
    };
    let authority = authority.trim_end_matches('/');
    let host = authority.rsplit_once(':').map(|(host, _)| host.trim_matches(['[', ']']));
    let host = host.ok_or_else(|| Failure::input(format!("{address}: HOST:PORT is wanted")))?;
    let stream = TcpStream::connect(authority).await;
    let stream = stream.map_err(|error| Failure::failed(format!("{address}: {error}")))?;
    let _ = stream.set_nodelay(true);
    let origin = format!("{}://{authority}", if tls { "https" } else { "http" });
    let origin = origin.parse().map_err(|_| Failure::input(format!("{address}: no address")))?;
    let wire = if tls {
        let connector = TlsConnector::from(Arc::new(trust(manner)?));
        let name = match host.parse::<IpAddr>() {
            Ok(ip) => ServerName::from(ip),
            Err(_) => ServerName::try_from(host.to_owned())
                .map_err(|_| Failure::input(format!("{host}: no name for a certificate")))?,
        };
        let stream = connector.connect(name, stream).await;
        handshake(stream.map_err(|error| Failure::failed(format!("{address}: TLS: {error}")))?).await
    } else {
        handshake(stream).await
    };
    Ok((wire.map_err(|error| Failure::failed(format!("{address}: {error}")))?, origin))
}

async fn handshake(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Wire, hyper::Error> {
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(Wire(sender))
}

fn trust(manner: &Manner) -> Result<ClientConfig, Failure> {
    let named = |path: &Path, what: &dyn std::fmt::Display| Failure::input(format!("{}: {what}", path.display()));
    let chain = |path: &Path| {
        let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        match read {
            Ok(chain) if chain.is_empty() => Err(named(path, &"no certificate in it")),
            read => read.map_err(|error| named(path, &error)),
        }
    };
    let ca = manner.tls_ca.as_deref().ok_or_else(|| Failure::input("TLS needs --tls-ca: the certificates to trust"))?;
    let mut roots = RootCertStore::empty();
    for certificate in chain(ca)? {
        roots.add(certificate).map_err(|error| named(ca, &error))?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::failed(error.to_string()))?
        .with_root_certificates(roots);
    let mut config = match (&manner.tls_cert, &manner.tls_key) {
        (Some(cert), Some(key)) => {
            let private = PrivateKeyDer::from_pem_file(key).map_err(|error| named(key, &error))?;
            builder.with_client_auth_cert(chain(cert)?, private).map_err(|error| named(cert, &error))?
        }
        _ => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

/// The token in a file: the last word of the first line that is neither empty nor a comment, so that a line of the
/// server's own file will do.
fn token(path: &Path) -> Result<String, Failure> {
    let text = input::read(Some(path))?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let word = line.and_then(|line| line.split_whitespace().last());
    word.map(str::to_owned).ok_or_else(|| Failure::input(format!("{}: no token in it", path.display())))
}

/// A status as the command line reports it: bad input is the caller's, the rest is a failure.
fn failure(status: &Status) -> Failure {
    let violations = status.get_details_bad_request().map(|bad| bad.field_violations).unwrap_or_default();
    if !violations.is_empty() {
        let line = |violation: &tonic_types::FieldViolation| match violation.field.as_str() {
            "" => violation.description.clone(),
            field => format!("{field}: {}", violation.description),
        };
        return Failure::Input(violations.iter().map(line).collect());
    }
    match status.code() {
        Code::InvalidArgument | Code::NotFound | Code::FailedPrecondition => Failure::input(described(status)),
        _ => Failure::failed(described(status)),
    }
}

fn described(status: &Status) -> String {
    let info = status.get_details_error_info();
    let reason = info.as_ref().map_or_else(String::new, |info| format!(" {}", info.reason));
    let known = info.and_then(|info| info.metadata.get("known").cloned());
    let known = known.map_or_else(String::new, |known| format!("; there is {known}"));
    format!("{:?}{reason}: {}{known}", status.code(), status.message())
}
