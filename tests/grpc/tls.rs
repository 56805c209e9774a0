//! Certificates and tokens: who may call, and that both change under load without a failed call.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::{Code, Request};
use understudy::pb::bot_service_client::BotServiceClient;
use understudy::service::Server;
use understudy::service::config::Config;

use crate::harness::{ask, channel, config, connect, end, metric, reason, run, serve, until};
use crate::raw::{DECIDE, framed};

/// A directory of its own, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("understudy-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("written");
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("params");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("signed").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Certificate and key for `localhost`.
    fn issue(&self) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("params");
        (params.signed_by(&key, &self.issuer).expect("signed").pem(), key.serialize_pem())
    }
}

/// One call over TLS: the status code, or that there was no connection.
async fn call(server: &Server, authority: &str, identity: Option<&(String, String)>) -> Result<Code, String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).expect("a certificate")).expect("a root");
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots);
    let mut tls = match identity {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let cert = CertificateDer::from_pem_slice(cert.as_bytes()).expect("a certificate");
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
            builder.with_client_auth_cert(vec![cert], key).expect("an identity")
        }
    };
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let tcp = TcpStream::connect(server.address()).await.expect("accepted");
    let name = ServerName::try_from("localhost").expect("a name");
    let io = TlsConnector::from(Arc::new(tls)).connect(name, tcp).await.map_err(|error| error.to_string())?;
    assert_eq!(io.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut send, connection) = h2::client::handshake(io).await.map_err(|error| error.to_string())?;
    let connection = tokio::spawn(connection);
    let request = http::Request::post(format!("https://localhost{DECIDE}")).header("content-type", "application/grpc");
    send = send.ready().await.map_err(|error| error.to_string())?;
    let sent = send.send_request(request.body(()).expect("a request"), false);
    let (response, mut stream) = sent.map_err(|error| error.to_string())?;
    stream.send_data(framed(&ask("easy")).into(), true).map_err(|error| error.to_string())?;
    let reply = async {
        let (parts, mut body) = response.await.map_err(|error| error.to_string())?.into_parts();
        while let Some(Ok(bytes)) = body.data().await {
            let _ = body.flow_control().release_capacity(bytes.len());
        }
        let trailers = body.trailers().await.ok().flatten().unwrap_or_default();
        let status = tonic::Status::from_header_map(&parts.headers);
        let status = status.or_else(|| tonic::Status::from_header_map(&trailers)).ok_or("no status")?;
        Ok(status.code())
    };
    let code = reply.await;
    connection.abort();
    code
}

fn secured(place: &Path) -> Config {
    Config {
        tls_cert: Some(place.join("cert.pem")),
        tls_key: Some(place.join("key.pem")),
        reload_interval: Duration::from_millis(50),
        ..config()
    }
}

#[test]
fn certificates_change_under_load_and_a_bad_file_keeps_the_old_ones() {
    let place = Place::new("tls");
    let (old, new) = (Authority::new(), Authority::new());
    let put = |authority: &Authority| {
        let (cert, key) = authority.issue();
        place.write("cert.pem", &cert);
        place.write("key.pem", &key);
    };
    put(&old);
    let server = serve(secured(&place.0));
    run(async {
        assert_eq!(call(&server, &old.pem, None).await, Ok(Code::Ok));
        assert!(call(&server, &new.pem, None).await.is_err(), "not signed by this one");
        // Plain HTTP/2 is no TLS handshake.
        let mut plain = TcpStream::connect(server.address()).await.expect("accepted");
        tokio::io::AsyncWriteExt::write_all(&mut plain, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("sent");
        let mut answer = Vec::new();
        let read = tokio::io::AsyncReadExt::read_to_end(&mut plain, &mut answer);
        let _ = tokio::time::timeout(Duration::from_secs(3), read).await.expect("closed");
        assert_ne!(answer.get(3), Some(&4), "no SETTINGS in the clear");

        place.write("cert.pem", "not a certificate");
        let failed = || metric(&server, "understudy_reloads_total{file=\"tls\",result=\"failed\"}") >= 1.0;
        wait(failed).await;
        assert_eq!(call(&server, &old.pem, None).await, Ok(Code::Ok), "the old one stays");

        put(&new);
        let server_ref = &server;
        let ok = || metric(server_ref, "understudy_reloads_total{file=\"tls\",result=\"ok\"}") >= 1.0;
        wait(ok).await;
        assert_eq!(call(&server, &new.pem, None).await, Ok(Code::Ok), "the new one holds");
        assert!(call(&server, &old.pem, None).await.is_err());
    });
    end(server);
}

async fn wait(check: impl Fn() -> bool) {
    for _ in 0..1000 {
        if check() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it does not happen");
}

#[test]
fn clients_show_a_certificate_where_one_is_asked_for() {
    let place = Place::new("mtls");
    let (servers, clients, strangers) = (Authority::new(), Authority::new(), Authority::new());
    let (cert, key) = servers.issue();
    place.write("cert.pem", &cert);
    place.write("key.pem", &key);
    let client_ca = place.write("clients.pem", &clients.pem);
    let server = serve(Config { tls_client_ca: Some(client_ca), ..secured(&place.0) });
    run(async {
        assert_eq!(call(&server, &servers.pem, Some(&clients.issue())).await, Ok(Code::Ok));
        assert!(call(&server, &servers.pem, None).await.is_err());
        assert!(call(&server, &servers.pem, Some(&strangers.issue())).await.is_err());
    });
    end(server);
}

#[test]
fn tokens_open_everything_but_health_and_change_under_load() {
    let place = Place::new("tokens");
    let file = place.write("tokens", "shop 0123456789abcdef\n");
    let config = Config { auth_tokens: Some(file), reload_interval: Duration::from_millis(50), ..config() };
    let server = serve(config);
    let with = |token: &str| {
        let mut request = Request::new(ask("easy"));
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().expect("ascii"));
        request
    };
    run(async {
        let mut client = connect(&server).await;
        let status = client.decide(ask("easy")).await.expect_err("no token");
        assert_eq!(reason(&status), (Code::Unauthenticated, "UNAUTHENTICATED".to_owned()));
        let status = client.decide(with("0123456789abcdeX")).await.expect_err("a wrong token");
        assert_eq!(status.code(), Code::Unauthenticated);
        client.decide(with("0123456789abcdef")).await.expect("the right one");
        let mut health = tonic_health::pb::health_client::HealthClient::new(channel(&server).await);
        health.check(tonic_health::pb::HealthCheckRequest::default()).await.expect("health needs none");
        let mut unknown = crate::raw::Raw::connect(server.address()).await;
        let reply = unknown.call("/no.such/Method", &[], b"").await;
        assert_eq!(reply.status.expect("a status").code(), Code::Unauthenticated, "not even what exists");

        // Both tokens hold while they are exchanged; not one call fails.
        let stop = tokio_util::sync::CancellationToken::new();
        let load = {
            let (mut client, stop) = (BotServiceClient::new(channel(&server).await), stop.clone());
            let good = with("0123456789abcdef").metadata().get("authorization").cloned().expect("set");
            tokio::spawn(async move {
                let mut calls = 0;
                while !stop.is_cancelled() {
                    let mut request = Request::new(ask("easy"));
                    request.metadata_mut().insert("authorization", good.clone());
                    client.decide(request).await.expect("not one fails");
                    calls += 1;
                }
                calls
            })
        };
        place.write("tokens", "shop 0123456789abcdef\nlobby fedcba9876543210\n");
        let reloaded = |result: &str, count: f64| {
            let name = format!("understudy_reloads_total{{file=\"tokens\",result=\"{result}\"}}");
            let server = &server;
            move || metric(server, &name) >= count
        };
        wait(reloaded("ok", 1.0)).await;
        client.decide(with("fedcba9876543210")).await.expect("the new one");
        place.write("tokens", "# nobody\n");
        wait(reloaded("failed", 1.0)).await;
        client.decide(with("fedcba9876543210")).await.expect("a bad file keeps the old ones");
        stop.cancel();
        assert!(load.await.expect("the load") > 10);
        place.write("tokens", "lobby fedcba9876543210\n");
        server.reload();
        wait(reloaded("ok", 2.0)).await;
        assert_eq!(client.decide(with("0123456789abcdef")).await.expect_err("gone").code(), Code::Unauthenticated);
    });
    assert!(until(Duration::from_secs(1), || server.metrics().in_flight.get() == 0).is_some());
    end(server);
}
