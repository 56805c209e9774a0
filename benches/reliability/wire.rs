//! gRPC calls over plain h2, so that every header, trailer and reset is ours to see. Requests are framed once and sent
//! many times: on a machine that the server shares, the client must cost little.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use prost::Message;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tonic_types::pb::{ErrorInfo, Status};

/// Where a call goes.
pub const DECIDE: &str = "/understudy.v1.BotService/Decide";
/// Several decisions in one call.
pub const BATCH: &str = "/understudy.v1.BotService/BatchDecide";
/// The standard probe.
pub const HEALTH: &str = "/grpc.health.v1.Health/Check";

/// How a call ended, as its client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// With trailers that carry this code.
    Status(u8),
    /// The stream or its connection broke first.
    Broken,
    /// The client stopped waiting and reset the stream.
    GaveUp,
}

impl Ending {
    /// Answered in full.
    pub const OK: Self = Self::Status(0);
    /// The server says that it has no room.
    pub const REFUSED: Self = Self::Status(8);
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(code) => write!(f, "{:?}", tonic::Code::from_i32(i32::from(*code))),
            Self::Broken => f.write_str("Broken"),
            Self::GaveUp => f.write_str("GaveUp"),
        }
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// The code.
    pub ending: Ending,
    /// The reply's message without its frame; empty after an error.
    pub body: Bytes,
    /// `grpc-message`.
    pub text: String,
    /// `grpc-status-details-bin`, still in base64.
    details: Option<Vec<u8>>,
}

impl Answer {
    fn broken(error: impl std::fmt::Display) -> Self {
        Self { ending: Ending::Broken, body: Bytes::new(), text: error.to_string(), details: None }
    }

    /// The ErrorInfo among the details.
    pub fn error_info(&self) -> Option<ErrorInfo> {
        let bytes = decode_base64(self.details.as_deref()?)?;
        let status = Status::decode(&bytes[..]).ok()?;
        let wanted = status.details.iter().find(|any| any.type_url.ends_with("google.rpc.ErrorInfo"))?;
        ErrorInfo::decode(&wanted.value[..]).ok()
    }

    /// Its reason and, for a deadline, its stage: `DEADLINE/queue`.
    pub fn reason(&self) -> String {
        let Some(info) = self.error_info() else { return String::new() };
        match info.metadata.get("stage") {
            Some(stage) => format!("{}/{stage}", info.reason),
            None => info.reason,
        }
    }
}

/// Base64 as gRPC sends binary metadata: the standard alphabet, padding optional.
fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0);
    for byte in text.iter().filter(|byte| **byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(out)
}

/// A message behind its five-byte gRPC prefix.
pub fn frame(message: &impl Message) -> Bytes {
    frame_bytes(0, &message.encode_to_vec())
}

/// Any bytes behind a gRPC prefix; `compressed` is its flag.
pub fn frame_bytes(compressed: u8, message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(message.len() + 5);
    framed.put_u8(compressed);
    framed.put_u32(message.len() as u32);
    framed.put_slice(message);
    framed.freeze()
}

/// Whom to call, and how to be let in.
#[derive(Clone)]
pub struct Target {
    /// Address.
    pub address: SocketAddr,
    /// Sent as `authorization: Bearer ...`.
    pub token: Option<Arc<str>>,
    /// TLS, where the server speaks it.
    pub tls: Option<tokio_rustls::TlsConnector>,
    /// Header lines that every call carries beside gRPC's own.
    pub extra: Vec<(&'static str, String)>,
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Self { address, token: None, tls: None, extra: Vec::new() }
    }
}

/// One HTTP/2 connection with default windows.
pub async fn connect(target: &Target) -> io::Result<SendRequest<Bytes>> {
    connect_with(target, &h2::client::Builder::new()).await
}

/// One HTTP/2 connection as `builder` shapes it.
pub async fn connect_with(target: &Target, builder: &h2::client::Builder) -> io::Result<SendRequest<Bytes>> {
    let tcp = TcpStream::connect(target.address).await?;
    tcp.set_nodelay(true)?;
    match &target.tls {
        None => handshake(tcp, builder).await,
        Some(tls) => {
            let name = "localhost".try_into().map_err(io::Error::other)?;
            handshake(tls.connect(name, tcp).await?, builder).await
        }
    }
}

async fn handshake<T>(io: T, builder: &h2::client::Builder) -> io::Result<SendRequest<Bytes>>
where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = builder.handshake(io).await.map_err(io::Error::other)?;
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}

/// A connection that is opened again when it has gone: a call that could not be sent yet goes over the new one, a call
/// that was sent is never repeated.
pub struct Channel {
    target: Target,
    sender: Mutex<Option<SendRequest<Bytes>>>,
}

impl Channel {
    /// Not connected yet.
    pub fn new(target: &Target) -> Arc<Self> {
        Arc::new(Self { target: target.clone(), sender: Mutex::new(None) })
    }

    async fn ready(&self) -> io::Result<SendRequest<Bytes>> {
        for _ in 0..3 {
            let sender = {
                let mut slot = self.sender.lock().await;
                if slot.is_none() {
                    *slot = Some(connect(&self.target).await?);
                }
                slot.clone().expect("filled above")
            };
            match sender.ready().await {
                Ok(ready) => return Ok(ready),
                Err(_) => *self.sender.lock().await = None,
            }
        }
        Err(io::Error::other("the peer closes every connection"))
    }

    /// One call. `wait` bounds how long its client stays; then the stream is reset.
    pub async fn call(&self, path: &str, timeout: Option<Duration>, body: Bytes, wait: Duration) -> Answer {
        let whole = async {
            match self.ready().await {
                Ok(mut sender) => call(&mut sender, &self.target, path, timeout, body).await,
                Err(error) => Answer::broken(error),
            }
        };
        match tokio::time::timeout(wait, whole).await {
            Ok(answer) => answer,
            Err(_) => Answer { ending: Ending::GaveUp, body: Bytes::new(), text: String::new(), details: None },
        }
    }
}

/// The head of a call.
pub fn head(target: &Target, path: &str, timeout: Option<Duration>) -> Request<()> {
    let scheme = if target.tls.is_some() { "https" } else { "http" };
    let mut head = Request::post(format!("{scheme}://localhost{path}"))
        .version(http::Version::HTTP_2)
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    if let Some(timeout) = timeout {
        head = head.header("grpc-timeout", format!("{}u", timeout.as_micros()));
    }
    if let Some(token) = &target.token {
        head = head.header("authorization", format!("Bearer {token}"));
    }
    for (name, value) in &target.extra {
        head = head.header(*name, value);
    }
    head.body(()).expect("a well-formed head")
}

/// One call over a connection that is ready. Dropping the future resets the stream.
pub async fn call(
    sender: &mut SendRequest<Bytes>,
    target: &Target,
    path: &str,
    timeout: Option<Duration>,
    body: Bytes,
) -> Answer {
    match exchange(sender, head(target, path, timeout), body).await {
        Ok(answer) => answer,
        Err(error) => Answer::broken(error),
    }
}

async fn exchange(sender: &mut SendRequest<Bytes>, head: Request<()>, body: Bytes) -> Result<Answer, h2::Error> {
    let (response, mut stream) = sender.send_request(head, false)?;
    stream.send_data(body, true)?;
    let (parts, mut reply) = response.await?.into_parts();
    if parts.headers.contains_key("grpc-status") {
        return Ok(close(&parts.headers, Bytes::new()));
    }
    let mut bytes = BytesMut::new();
    while let Some(chunk) = reply.data().await {
        let chunk = chunk?;
        reply.flow_control().release_capacity(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    match reply.trailers().await? {
        Some(trailers) => Ok(close(&trailers, bytes.freeze())),
        None => Ok(Answer::broken(format!("HTTP {} without trailers", parts.status.as_u16()))),
    }
}

fn close(trailers: &HeaderMap, body: Bytes) -> Answer {
    let text = |name: &str| trailers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let ending = text("grpc-status").parse().map_or(Ending::Broken, Ending::Status);
    Answer {
        ending,
        body: if body.len() > 5 { body.slice(5..) } else { Bytes::new() },
        text: text("grpc-message").replace("%20", " "),
        details: trailers.get("grpc-status-details-bin").map(|value| value.as_bytes().to_vec()),
    }
}
