//! Owns the answers that are files. Disks block, so they are asked on threads of their own; a file
//! of any size passes through one piece of memory.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Method, Response, StatusCode, Uri};
use tokio::task::spawn_blocking;

use crate::body::{self, PIECE};
use crate::conditions::{self, Verdict};
use crate::media;
use crate::reply::{self, Responder, Sender};
use crate::target::{self, Found};
use fairmux::{Error, Reason};

/// What a client wants to know of a file.
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) fields: HeaderMap,
}

/// Answers with the file that `relative` names below `root`.
pub(crate) async fn answer(
    root: Arc<Path>,
    relative: PathBuf,
    asked: Asked,
    respond: Responder,
) -> Result<(), Error> {
    let with_body = asked.method != Method::HEAD;
    match blocking(move || target::open(&root, &relative)).await {
        Ok(Found::File(file, metadata, path)) => {
            send(file, &metadata, &path, &asked, respond).await
        }
        Ok(Found::Directory) => redirect(respond, &asked.uri),
        Err(why) => reply::status(respond, status_of(&why), with_body),
    }
}

/// 404 for what is not there, 403 for what may not be read, 500 for what is our fault.
fn status_of(why: &io::Error) -> StatusCode {
    match why.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::InvalidInput => StatusCode::NOT_FOUND,
        io::ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
        _ => {
            tracing::warn!("cannot open a file: {why}");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

/// A directory asked for without its final slash.
fn redirect(respond: Responder, uri: &Uri) -> Result<(), Error> {
    let mut head = reply::head_of(StatusCode::MOVED_PERMANENTLY, reply::TEXT, 0);
    if let Ok(location) = HeaderValue::try_from(format!("{}/", uri.path())) {
        head.headers_mut().insert(header::LOCATION, location);
    }
    reply::whole(respond, head, Bytes::new(), false)
}

async fn send(
    file: File,
    metadata: &Metadata,
    path: &Path,
    asked: &Asked,
    mut respond: Responder,
) -> Result<(), Error> {
    let len = metadata.len();
    let modified = metadata.modified().ok().and_then(conditions::date);
    let get = asked.method == Method::GET;
    let (mut head, range) = match conditions::weigh(&asked.fields, modified, len, get) {
        Verdict::Whole => (of_file(StatusCode::OK, path, len), 0..len),
        Verdict::Part(range) => (part(path, &range, len), range),
        Verdict::NotModified => (reply::head(StatusCode::NOT_MODIFIED), 0..0),
        Verdict::Failed => return reply::status(respond, StatusCode::PRECONDITION_FAILED, get),
        Verdict::Unsatisfiable => return unsatisfiable(respond, len),
    };
    note_date(&mut head, modified);
    let end = !get || range.is_empty();
    let stream = respond.send_response(head, end)?;
    if end {
        Ok(())
    } else {
        stream_out(stream, file, range).await
    }
}

fn of_file(status: StatusCode, path: &Path, len: u64) -> Response<()> {
    let mut head = reply::head_of(status, media::of(path), len);
    head.headers_mut()
        .insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    head
}

fn part(path: &Path, range: &Range<u64>, len: u64) -> Response<()> {
    let mut head = of_file(StatusCode::PARTIAL_CONTENT, path, range.end - range.start);
    let place = format!("bytes {}-{}/{len}", range.start, range.end - 1);
    note_place(&mut head, place);
    head
}

fn unsatisfiable(respond: Responder, len: u64) -> Result<(), Error> {
    let mut head = reply::head_of(StatusCode::RANGE_NOT_SATISFIABLE, reply::TEXT, 0);
    note_place(&mut head, format!("bytes */{len}"));
    reply::whole(respond, head, Bytes::new(), false)
}

fn note_place(head: &mut Response<()>, place: String) {
    if let Ok(place) = HeaderValue::try_from(place) {
        head.headers_mut().insert(header::CONTENT_RANGE, place);
    }
}

fn note_date(head: &mut Response<()>, modified: Option<SystemTime>) {
    if let Some(date) = modified.and_then(reply::date) {
        head.headers_mut().insert(header::LAST_MODIFIED, date);
    }
}

/// Sends `range` of `file`. A file that turns out shorter costs the stream: an end of body would
/// be a lie.
async fn stream_out(mut stream: Sender, file: File, range: Range<u64>) -> Result<(), Error> {
    let file = Arc::new(file);
    let mut at = range.start;
    while at < range.end {
        // Nothing is read for a client that takes nothing.
        body::capacity(&mut stream, 1).await?;
        let wish = usize::try_from(range.end - at).map_or(PIECE, |left| left.min(PIECE));
        let reading = Arc::clone(&file);
        match blocking(move || read(&reading, at, wish)).await {
            Ok(piece) => {
                at += wish as u64;
                body::send(&mut stream, piece, at == range.end).await?;
            }
            Err(why) => {
                tracing::warn!("cannot read a file to its end: {why}");
                stream.send_reset(Reason::INTERNAL_ERROR);
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Reads exactly `wish` bytes. Blocks.
fn read(mut file: &File, at: u64, wish: usize) -> io::Result<Bytes> {
    file.seek(SeekFrom::Start(at))?;
    let mut piece = Vec::with_capacity(wish);
    file.take(wish as u64).read_to_end(&mut piece)?;
    if piece.len() < wish {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(piece.into())
}

/// Runs `work` where it may block.
async fn blocking<T, F>(work: F) -> io::Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> io::Result<T> + Send + 'static,
{
    spawn_blocking(work).await.map_err(io::Error::other)?
}
