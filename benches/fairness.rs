//! Who gets how much of a connection: bytes of 20 downloads over time, here and with h2.
//!
//! Both servers run in process over a pipe. The client opens stream windows wide and the window of
//! the connection 64 KiB at a time. Prints spread and Jain's index; draws `docs/img/fairness-*.svg`.

use std::error::Error;
use std::fs;

use bytes::Bytes;
use http::Response;
use indicatif::ProgressBar;
use plotters::prelude::{ChartBuilder, IntoDrawingArea, LineSeries, Palette, Palette99};
use plotters::prelude::{SVGBackend, WHITE};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

type Failure = Box<dyn Error>;

const STREAMS: usize = 20;
const SIZE: usize = 2 << 20;
const GRANT: usize = 64 * 1024;
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/img");

/// Serves `SIZE` bytes to every request; the same words for both crates.
macro_rules! serve {
    ($name:ident, $server:path) => {
        async fn $name(io: DuplexStream) {
            use $server as server;
            let Ok(mut connection) = server::handshake(io).await else {
                return;
            };
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                tokio::spawn(async move {
                    if let Ok(mut body) = respond.send_response(Response::new(()), false) {
                        // An error means that the client has left.
                        let _ = body.send_data(Bytes::from(vec![7; SIZE]), true);
                    }
                });
            }
        }
    };
}

serve!(serve_fairmux, fairmux::server);
serve!(serve_h2, h2::server);

/// After so many bytes in all, what each stream has.
type Sample = (usize, Vec<usize>);

fn main() -> Result<(), Failure> {
    fs::create_dir_all(FOLDER)?;
    for name in ["fairmux", "h2"] {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let samples = runtime.block_on(async {
            let (near, far) = duplex(GRANT);
            if name == "h2" {
                tokio::spawn(serve_h2(far));
            } else {
                tokio::spawn(serve_fairmux(far));
            }
            download(near).await
        })?;
        report(name, &samples);
        draw(name, &samples)?;
    }
    Ok(())
}

async fn download(mut io: DuplexStream) -> Result<Vec<Sample>, Failure> {
    io.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await?;
    io.write_all(&frame(4, 0, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff]))
        .await?;
    let block = b"\x82\x86\x84\x41\x09localhost";
    for stream in 0..STREAMS {
        let id = u32::try_from(1 + 2 * stream)?;
        io.write_all(&frame(1, 5, id, block)).await?;
    }
    let total = STREAMS * SIZE;
    let bar = ProgressBar::new(total as u64);
    let (mut shares, mut samples) = (vec![0; STREAMS], Vec::new());
    let (mut seen, mut window) = (0, 65_535);
    while seen < total {
        let mut head = [0; 9];
        io.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        io.read_exact(&mut payload).await?;
        match (head[3], head[4] & 1) {
            (0, _) => {
                let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
                shares[(id as usize - 1) / 2] += length;
                if seen * 200 / total != (seen + length) * 200 / total {
                    samples.push((seen + length, shares.clone()));
                }
                seen += length;
                bar.set_position(seen as u64);
            }
            (4, 0) => io.write_all(&frame(4, 1, 0, &[])).await?,
            (6, 0) => io.write_all(&frame(6, 1, 0, &payload)).await?,
            _ => {}
        }
        if seen == window {
            let grant = u32::try_from(GRANT)?.to_be_bytes();
            io.write_all(&frame(8, 0, 0, &grant)).await?;
            window += GRANT;
        }
    }
    bar.finish_and_clear();
    Ok(samples)
}

fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    let mut out = vec![a, b, c, kind, flags];
    out.extend(id.to_be_bytes());
    out.extend(payload);
    out
}

/// The worst of what was seen from a tenth of the total on, while all streams are under way.
fn report(name: &str, samples: &[Sample]) {
    let (mut spread, mut index) = (0, 1.0_f64);
    for (seen, shares) in samples {
        let most = shares.iter().max().copied().unwrap_or(0);
        let least = shares.iter().min().copied().unwrap_or(0);
        if *seen >= STREAMS * SIZE / 10 && most < SIZE {
            spread = spread.max(most - least);
            index = index.min(jain(shares));
        }
    }
    println!(
        "{name}: spread {} KiB, Jain's index {index:.4}",
        spread / 1024
    );
}

fn jain(shares: &[usize]) -> f64 {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| (*share as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares)
}

fn draw(name: &str, samples: &[Sample]) -> Result<(), Failure> {
    let path = format!("{FOLDER}/fairness-{name}.svg");
    let area = SVGBackend::new(&path, (640, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let mebi = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..mebi(STREAMS * SIZE), 0.0..mebi(SIZE))?;
    chart
        .configure_mesh()
        .x_desc(format!("MiB received in all ({name})"))
        .y_desc("MiB of each stream")
        .draw()?;
    for stream in 0..STREAMS {
        let points = samples
            .iter()
            .map(|(seen, shares)| (mebi(*seen), mebi(shares[stream])));
        chart.draw_series(LineSeries::new(points, &Palette99::pick(stream)))?;
    }
    area.present()?;
    Ok(())
}
