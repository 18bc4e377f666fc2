//! Servers and clients as users of hyper, axum, tonic and reqwest write them, and checks of what
//! they see. Built twice: on fairmux (`interop`) and on h2 (`interop-h2`); `.ci/interop-h2` lets
//! each meet each.
//!
//! ```text
//! interop certificate DIR
//! interop serve KIND DIR                    prints NAME=ADDRESS lines, ends with its input
//! interop check KIND DIR NAME=ADDRESS...    exits with 1 if a check fails
//! interop moments                           when each `poll_*` is ready
//! ```

mod axum_client;
mod axum_server;
mod bodies;
mod checks;
mod grpc;
mod hyper_client;
#[path = "../../../examples/hyper_free/connection.rs"]
mod hyper_free;
mod hyper_server;
mod moments;
mod net;
mod reqwest_client;
mod tonic_client;
mod tonic_server;

use checks::Result;
use net::Peers;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    match runtime.block_on(run(&words)) {
        // Not by returning: blocking reads of standard input would be waited for.
        Ok(code) => std::process::exit(code),
        Err(error) => {
            eprintln!("{}", checks::with_causes(&*error));
            std::process::exit(2);
        }
    }
}

async fn run(words: &[String]) -> Result<i32> {
    let names: Vec<&str> = words.iter().map(String::as_str).collect();
    match names[..] {
        ["certificate", dir] => net::make_certificate(dir)?,
        ["serve", kind, dir] => serve(kind, dir).await?,
        ["moments"] => moments::print().await,
        ["check", kind, dir, ..] => return check(kind, &Peers::parse(dir, &words[3..])?).await,
        _ => return Err("see the head of main.rs for what can be asked".into()),
    }
    Ok(0)
}

async fn serve(kind: &str, dir: &str) -> Result {
    match kind {
        "hyper" => hyper_server::serve(dir).await,
        "axum" => axum_server::serve(dir).await,
        "tonic" => tonic_server::serve().await,
        _ => Err("no such server".into()),
    }
}

async fn check(kind: &str, peers: &Peers) -> Result<i32> {
    Ok(match kind {
        "hyper" => hyper_client::check(peers).await,
        "axum" => axum_client::check(peers).await,
        "tonic" | "grpc" => tonic_client::check(peers, kind).await,
        "reqwest" => reqwest_client::check(peers).await,
        _ => return Err("no such client".into()),
    })
}
