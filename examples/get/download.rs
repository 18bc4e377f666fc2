//! Owns one download: request, answer, body, and whether all of it came.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use indicatif::ProgressBar;
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout};

use crate::connect::Requests;
use crate::target::Target;
use fairmux::{Error, RecvStream, Violation};

/// What a download is done with.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) requests: Requests,
    /// Where files go, if anywhere.
    pub(crate) directory: Option<Rc<Path>>,
    pub(crate) patience: Duration,
    /// What came over the connection so far.
    pub(crate) received: Rc<Received>,
}

/// What came over a connection so far.
#[derive(Default)]
pub(crate) struct Received {
    /// Bytes of bodies.
    bytes: Cell<u64>,
    /// Heads and pieces of bodies: a sign of life.
    signs: Cell<u64>,
}

impl Received {
    fn head(&self) {
        self.signs.set(self.signs.get() + 1);
    }

    fn piece(&self, len: usize) {
        self.head();
        self.bytes.set(self.bytes.get() + len as u64);
    }
}

/// What came of a download.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) bytes: u64,
    pub(crate) time: Duration,
    /// This stream's part of what the connection received while it ran, from 0 to 1.
    pub(crate) share: f64,
}

/// Why a download failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Protocol(Error),
    Status(StatusCode),
    Silence,
    Length { promised: u64, bytes: u64 },
    File(PathBuf, std::io::Error),
}

/// Downloads `target`. A file appears under its name only when it is whole.
pub(crate) async fn download(
    means: Means,
    target: &Target,
    bar: &ProgressBar,
) -> Result<Outcome, Failure> {
    let (start, before) = (Instant::now(), means.received.bytes.get());
    let (promised, mut body) = request(&means, target).await?;
    bar.set_length(promised.unwrap_or(0));
    let mut file = match &means.directory {
        Some(directory) => Some(Partial::create(directory.join(&target.name)).await?),
        None => None,
    };
    let mut bytes = 0;
    while let Some(piece) = means.patiently(body.data()).await? {
        let piece = piece?;
        let len = piece.len();
        bytes += len as u64;
        means.received.piece(len);
        if let Some(file) = &mut file {
            file.write(&piece).await?;
        }
        body.flow_control().release_capacity(len)?;
        bar.set_position(bytes);
    }
    means.patiently(body.trailers()).await??;
    if let Some(promised) = promised.filter(|promised| *promised != bytes) {
        return Err(Failure::Length { promised, bytes });
    }
    if let Some(file) = file {
        file.finish().await?;
    }
    let share = part(bytes, means.received.bytes.get() - before);
    Ok(Outcome {
        bytes,
        time: start.elapsed(),
        share,
    })
}

/// Asks for `target`, and gives the promised length and the body.
async fn request(means: &Means, target: &Target) -> Result<(Option<u64>, RecvStream), Failure> {
    let mut request = Request::new(());
    *request.uri_mut() = target.uri.clone();
    let mut requests = means.patiently(means.requests.clone().ready()).await??;
    let (response, _) = requests.send_request(request, true)?;
    let response = means.patiently(response).await??;
    means.received.head();
    if response.status() != StatusCode::OK {
        return Err(Failure::Status(response.status()));
    }
    Ok((promised(response.headers()), response.into_body()))
}

impl Means {
    /// Waits for `what`, as long as the connection shows signs of life: a server may let some
    /// streams wait while it serves others.
    async fn patiently<T>(&self, what: impl Future<Output = T>) -> Result<T, Failure> {
        let mut what = pin!(what);
        loop {
            let signs = self.received.signs.get();
            match timeout(self.patience, &mut what).await {
                Ok(come) => return Ok(come),
                Err(_) if self.received.signs.get() == signs => return Err(Failure::Silence),
                Err(_) => {}
            }
        }
    }
}

fn promised(fields: &HeaderMap) -> Option<u64> {
    fields
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

fn part(bytes: u64, of: u64) -> f64 {
    if of == 0 {
        0.0
    } else {
        bytes as f64 / of as f64
    }
}

/// A file that is not whole yet. Dropped as such, it is removed.
struct Partial {
    name: PathBuf,
    partial: PathBuf,
    file: Option<File>,
}

impl Partial {
    async fn create(name: PathBuf) -> Result<Self, Failure> {
        let mut partial = name.clone().into_os_string();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        match File::create(&partial).await {
            Ok(file) => Ok(Self {
                name,
                partial,
                file: Some(file),
            }),
            Err(why) => Err(Failure::File(partial, why)),
        }
    }

    async fn write(&mut self, piece: &Bytes) -> Result<(), Failure> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.write_all(piece)
            .await
            .map_err(|why| Failure::File(self.partial.clone(), why))
    }

    async fn finish(mut self) -> Result<(), Failure> {
        let Some(mut file) = self.file.take() else {
            return Ok(());
        };
        let moved = match file.flush().await {
            Ok(()) => fs::rename(&self.partial, &self.name).await,
            Err(why) => Err(why),
        };
        moved.map_err(|why| Failure::File(self.name.clone(), why))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

impl From<Error> for Failure {
    fn from(why: Error) -> Self {
        Self::Protocol(why)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Whatever it says first, it is not what HTTP/2 begins with.
            Self::Protocol(why) if why.as_violation() == Some(&Violation::FirstFrame) => {
                write!(f, "the server does not speak HTTP/2: {why}")
            }
            Self::Protocol(why) => write!(f, "{why}"),
            Self::Status(status) => write!(f, "the server answered {status}"),
            Self::Silence => write!(f, "the server fell silent"),
            Self::Length { promised, bytes } => {
                write!(f, "{promised} bytes were promised and {bytes} came")
            }
            Self::File(path, why) => write!(f, "cannot write {}: {why}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_partial_file_takes_its_name_only_when_finished() {
        let directory = std::env::temp_dir().join(format!("fairmux-get-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let name = directory.join("a");
        let mut partial = Partial::create(name.clone()).await.unwrap();
        partial.write(&Bytes::from_static(b"abc")).await.unwrap();
        drop(partial);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);

        let mut partial = Partial::create(name.clone()).await.unwrap();
        partial.write(&Bytes::from_static(b"abc")).await.unwrap();
        assert!(!name.exists());
        partial.finish().await.unwrap();
        assert_eq!(std::fs::read(&name).unwrap(), b"abc");
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn shares() {
        assert!((part(1, 4) - 0.25).abs() < f64::EPSILON);
        assert!(part(0, 0).abs() < f64::EPSILON);
    }
}
