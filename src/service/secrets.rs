//! Certificates and tokens, read from files at the start and again whenever those change. New handshakes and calls use
//! the new ones; a bad file keeps the old ones.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwapOption;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::config::Config;
use super::metrics::{Metrics, Secret};
use super::tokens::Tokens;

/// What is in force.
#[derive(Debug)]
pub struct Secrets {
    files: Files,
    /// `None`: no TLS.
    pub tls: ArcSwapOption<ServerConfig>,
    /// `None`: everybody may call.
    pub tokens: ArcSwapOption<Tokens>,
    seen: Mutex<Seen>,
}

#[derive(Clone, Debug)]
struct Files {
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    client_ca: Option<PathBuf>,
    tokens: Option<PathBuf>,
}

/// Time and size of a file: when both stay, it has not changed.
type Stamp = Option<(SystemTime, u64)>;

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    tls: (Stamp, Stamp),
    client_ca: Stamp,
    tokens: Stamp,
}

fn stamp(path: Option<&PathBuf>) -> Stamp {
    let data = std::fs::metadata(path?).ok()?;
    Some((data.modified().ok()?, data.len()))
}

impl Seen {
    fn now(files: &Files) -> Self {
        Self {
            tls: (stamp(files.cert.as_ref()), stamp(files.key.as_ref())),
            client_ca: stamp(files.client_ca.as_ref()),
            tokens: stamp(files.tokens.as_ref()),
        }
    }
}

impl Secrets {
    /// Reads every file that the settings name.
    ///
    /// # Errors
    /// One line for each bad file.
    pub fn load(config: &Config) -> Result<Self, Vec<String>> {
        let files = Files {
            cert: config.tls_cert.clone(),
            key: config.tls_key.clone(),
            client_ca: config.tls_client_ca.clone(),
            tokens: config.auth_tokens.clone(),
        };
        let seen = Mutex::new(Seen::now(&files));
        let tls = files.tls();
        let tokens = files.tokens();
        match (tls, tokens) {
            (Ok(tls), Ok(tokens)) => Ok(Self { files, tls: tls.into(), tokens: tokens.into(), seen }),
            (tls, tokens) => Err([tls.err(), tokens.err()].into_iter().flatten().collect()),
        }
    }

    /// Reads again what has changed; everything, if `all`.
    pub fn reload(&self, all: bool, metrics: &Metrics) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let present = Seen::now(&self.files);
        let changed = |named: bool, changed: bool| named && (all || changed);
        let tls = changed(self.files.cert.is_some(), present.tls != seen.tls);
        let client_ca = changed(self.files.client_ca.is_some(), present.client_ca != seen.client_ca);
        if tls || client_ca {
            let result = self.files.tls().map(|tls| self.tls.store(tls));
            for (file, _) in [(Secret::Tls, tls), (Secret::ClientCa, client_ca)].into_iter().filter(|(_, hit)| *hit) {
                told(file, &result, metrics);
            }
        }
        if changed(self.files.tokens.is_some(), present.tokens != seen.tokens) {
            let result = self.files.tokens().map(|tokens| self.tokens.store(tokens));
            told(Secret::Tokens, &result, metrics);
        }
        *seen = present;
    }
}

fn told(file: Secret, result: &Result<(), String>, metrics: &Metrics) {
    metrics.reload(file, result.is_ok());
    match result {
        Ok(()) => tracing::info!(file = file.name(), "read again"),
        Err(error) => tracing::error!(file = file.name(), error, "bad file; the old one stays"),
    }
}

impl Files {
    fn tokens(&self) -> Result<Option<Arc<Tokens>>, String> {
        let tokens = self.tokens.as_deref().map(|path| regular(path).and_then(Tokens::load));
        tokens.transpose().map(|tokens| tokens.map(Arc::new))
    }

    fn tls(&self) -> Result<Option<Arc<ServerConfig>>, String> {
        let (Some(cert), Some(key)) = (&self.cert, &self.key) else { return Ok(None) };
        let chain = certificates(cert)?;
        let key = PrivateKeyDer::from_pem_file(regular(key)?).map_err(|error| format!("{}: {error}", key.display()))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| format!("{}: {error}", path.display()))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| format!("{}: {error}", path.display()))?)
            }
        };
        let mut tls = builder.with_single_cert(chain, key).map_err(|error| format!("{}: {error}", cert.display()))?;
        tls.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Some(Arc::new(tls)))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let bad = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(regular(path)?).map_err(|error| bad(&error))?.collect();
    match all {
        Ok(list) if list.is_empty() => Err(bad(&"no certificate in it")),
        Ok(list) => Ok(list),
        Err(error) => Err(bad(&error)),
    }
}

/// The path again, if it is no pipe or device: opening a pipe waits for who writes it, and some devices never end.
fn regular(path: &Path) -> Result<&Path, String> {
    match std::fs::metadata(path) {
        Ok(data) if !data.is_file() => Err(format!("{}: not a regular file", path.display())),
        // Whoever reads it tells what else is wrong.
        _ => Ok(path),
    }
}
