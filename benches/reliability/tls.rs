//! Certificates of one run, and clients that trust them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::Trouble;

/// An authority whose certificates a client of this run accepts.
pub struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    certificate: CertificateDer<'static>,
}

impl Authority {
    /// A new one.
    pub fn new() -> Result<Self, Trouble> {
        let key = rcgen::KeyPair::generate()?;
        let mut about = rcgen::CertificateParams::new(Vec::<String>::new())?;
        about.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = about.self_signed(&key)?.der().clone();
        Ok(Self { issuer: rcgen::Issuer::new(about, key), certificate })
    }

    /// Writes a fresh certificate for `localhost` and its key, each by rename, as a careful operator does.
    pub fn issue(&self, certificate: &Path, key: &Path) -> Result<(), Trouble> {
        let pair = rcgen::KeyPair::generate()?;
        let about = rcgen::CertificateParams::new(vec!["localhost".to_owned()])?;
        let signed = about.signed_by(&pair, &self.issuer)?;
        replace(certificate, &signed.pem())?;
        replace(key, &pair.serialize_pem())
    }

    /// A client that trusts this authority and speaks h2.
    pub fn connector(&self) -> Result<TlsConnector, Trouble> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone())?;
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// A file with new content, never half of it.
pub fn replace(path: &Path, text: &str) -> Result<(), Trouble> {
    let beside = path.with_extension("new");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, path)?;
    Ok(())
}

/// Where a run keeps a certificate and its key.
pub fn files(scratch: &Path) -> (PathBuf, PathBuf) {
    (scratch.join("cert.pem"), scratch.join("key.pem"))
}
