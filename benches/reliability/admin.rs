//! The admin port: one plain HTTP/1.1 exchange a call, and a reader for the text exposition.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An HTTP answer.
pub struct Page {
    /// Status code.
    pub status: u16,
    /// What follows the head.
    pub body: String,
}

/// GETs a page.
pub fn get(address: SocketAddr, path: &str) -> io::Result<Page> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| io::Error::other("no head"))?;
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    Ok(Page { status: status.ok_or_else(|| io::Error::other("no status"))?, body: body.to_owned() })
}

/// The sum over every series whose name and first labels are these: `understudy_jobs_total{end="finished"` is one,
/// `understudy_jobs_total` all of them.
pub fn series(exposition: &str, series: &str) -> f64 {
    let fits = |line: &str| {
        let rest = line.strip_prefix(series)?;
        let value = match rest.as_bytes().first()? {
            b' ' => rest,
            b'{' | b'}' | b',' => rest.split_once('}')?.1,
            _ => return None,
        };
        value.trim().parse::<f64>().ok()
    };
    exposition.lines().filter_map(fits).fold(0.0, |sum, value| sum + value)
}
