//! A client that says exactly what it is told to, over bare HTTP/2.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request};
use prost::Message;
use tokio::net::TcpStream;
use tonic::Status;

/// One connection.
pub struct Raw {
    send: SendRequest<Bytes>,
    pub connection: tokio::task::JoinHandle<Result<(), h2::Error>>,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub http: u16,
    pub data: Vec<u8>,
    pub status: Option<Status>,
}

pub const DECIDE: &str = "/understudy.v1.BotService/Decide";

/// A message as gRPC frames it.
pub fn framed(message: &impl Message) -> Vec<u8> {
    frame(0, &message.encode_to_vec())
}

pub fn frame(flag: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![flag];
    bytes.extend((payload.len() as u32).to_be_bytes());
    bytes.extend(payload);
    bytes
}

impl Raw {
    pub async fn connect(address: SocketAddr) -> Self {
        let tcp = TcpStream::connect(address).await.expect("the server accepts");
        tcp.set_nodelay(true).expect("a socket");
        let (send, connection) = h2::client::handshake(tcp).await.expect("HTTP/2");
        Self { send, connection: tokio::spawn(connection) }
    }

    /// Sends headers, with `more` replacing what a gRPC client would send.
    pub async fn open(&mut self, path: &str, more: &[(&str, &str)]) -> (ResponseFuture, SendStream<Bytes>) {
        let mut request = Request::post(format!("http://test{path}"));
        let has = |name: &str| more.iter().any(|(known, _)| *known == name);
        for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
            if !has(name) {
                request = request.header(name, value);
            }
        }
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        let request = request.body(()).expect("a request");
        self.send = self.send.clone().ready().await.expect("an open connection");
        self.send.send_request(request, false).expect("a stream")
    }

    pub async fn call(&mut self, path: &str, more: &[(&str, &str)], body: &[u8]) -> Reply {
        let (response, mut stream) = self.open(path, more).await;
        // The server may have answered and closed the stream already: then there is no one to send to.
        let _ = stream.send_data(Bytes::copy_from_slice(body), true);
        reply(response).await
    }
}

/// Reads a response to its end.
pub async fn reply(response: ResponseFuture) -> Reply {
    let wait = async {
        let (parts, mut body) = response.await.expect("a response").into_parts();
        let (data, trailers) = drain(&mut body).await;
        let status = Status::from_header_map(&parts.headers).or_else(|| Status::from_header_map(&trailers));
        Reply { http: parts.status.as_u16(), data, status }
    };
    tokio::time::timeout(Duration::from_secs(10), wait).await.expect("an answer within ten seconds")
}

async fn drain(body: &mut RecvStream) -> (Vec<u8>, HeaderMap) {
    let mut data = Vec::new();
    while let Some(Ok(bytes)) = body.data().await {
        let _ = body.flow_control().release_capacity(bytes.len());
        data.extend_from_slice(&bytes);
    }
    (data, body.trailers().await.ok().flatten().unwrap_or_default())
}
