//! Requests as they came.

use std::io::{self, Read};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// Which connection it came on, from 0.
    pub connection: usize,
    /// Its method.
    pub method: String,
    /// Its target: path and query.
    pub target: String,
    /// Its headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body, as long as it said.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The first header of this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }
}

pub(crate) fn read_request(stream: &mut dyn Read, connection: usize) -> io::Result<HttpRequest> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let mut more = |bytes: &mut Vec<u8>| match stream.read(&mut buffer)? {
        0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        length => {
            bytes.extend_from_slice(&buffer[..length]);
            Ok(())
        }
    };
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        more(&mut bytes)?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines
        .next()
        .unwrap_or_default()
        .split(' ')
        .map(str::to_owned);
    let mut request = HttpRequest {
        connection,
        method: first.next().unwrap_or_default(),
        target: first.next().unwrap_or_default(),
        headers: lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect(),
        body: Vec::new(),
    };
    let length = request
        .header("content-length")
        .and_then(|length| length.parse().ok());
    let length: usize = length.unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        more(&mut body)?;
    }
    request.body = body;
    Ok(request)
}
