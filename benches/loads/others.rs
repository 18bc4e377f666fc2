//! Servers that are programs of their own, where they are installed: nghttpd, h2o, nginx; and
//! `examples/serve`, if it is built. They serve files, so the files are made.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

use super::options::Common;
use super::peer::Peer;
use super::{Failure, tls};

/// In the order of tables.
pub(crate) const OURS: [&str; 3] = ["fairmux", "h2", "hyper"];
const OTHERS: [&str; 4] = ["serve", "nghttpd", "h2o", "nginx"];

/// Starts the servers that are wanted and can be had. Each serves `/bytes/N` for these sizes.
pub(crate) fn start(
    common: &Common,
    is_tls: bool,
    sizes: &[u64],
    knobs: &str,
) -> Result<Vec<Peer>, Failure> {
    let mut peers = Vec::new();
    for name in OURS.into_iter().filter(|name| common.wants(name)) {
        let mut args = vec!["--library", name];
        if name == "fairmux" {
            args.extend(knobs.split_whitespace());
        }
        peers.push(Peer::start(name, is_tls, &args)?);
    }
    site(sizes)?;
    for name in OTHERS.into_iter().filter(|name| common.wants(name)) {
        match other(name, is_tls) {
            Ok(peer) => peers.push(peer),
            Err(why) => println!("without {name}: {why}"),
        }
    }
    Ok(peers)
}

/// The files.
fn site(sizes: &[u64]) -> Result<(), Failure> {
    let folder = root().join("bytes");
    fs::create_dir_all(&folder)?;
    for size in sizes {
        fs::write(
            folder.join(size.to_string()),
            vec![b'f'; usize::try_from(*size)?],
        )?;
    }
    Ok(())
}

fn root() -> PathBuf {
    tls::scratch().join("site")
}

fn other(name: &str, is_tls: bool) -> Result<Peer, Failure> {
    // Free now, and asked for at once.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut command = match name {
        "serve" => serve(is_tls, port)?,
        "nghttpd" => nghttpd(is_tls, port),
        "h2o" => h2o(is_tls, port)?,
        _ => nginx(is_tls, port)?,
    };
    Peer::program(name, is_tls, port, &mut command)
}

fn serve(is_tls: bool, port: u16) -> Result<Command, Failure> {
    let program = tls::scratch().join("../release/examples/serve");
    if !program.exists() {
        return Err("cargo build --release --example serve".into());
    }
    let mut command = Command::new(program);
    let addr = format!("127.0.0.1:{port}");
    command.arg(if is_tls { "--listen-tls" } else { "--listen" });
    command.arg(addr).arg("--dir").arg(root());
    if is_tls {
        command.arg("--cert").arg(tls::certificate());
        command.arg("--key").arg(tls::key());
    }
    Ok(command)
}

fn nghttpd(is_tls: bool, port: u16) -> Command {
    let mut command = Command::new("nghttpd");
    command.arg("-n1").arg("-d").arg(root());
    if is_tls {
        command
            .arg(port.to_string())
            .arg(tls::key())
            .arg(tls::certificate());
    } else {
        command.arg("--no-tls").arg(port.to_string());
    }
    command
}

fn h2o(is_tls: bool, port: u16) -> Result<Command, Failure> {
    let secure = match is_tls {
        true => format!(
            "\n  ssl:\n    certificate-file: {}\n    key-file: {}",
            tls::certificate().display(),
            tls::key().display()
        ),
        false => String::new(),
    };
    let settings = format!(
        "user: root\nnum-threads: 1\nlisten:\n  host: 127.0.0.1\n  port: {port}{secure}\n\
         hosts:\n  default:\n    paths:\n      /:\n        file.dir: {}\n",
        root().display()
    );
    let path = tls::scratch().join(format!("h2o-{port}.conf"));
    fs::write(&path, settings)?;
    let mut command = Command::new("h2o");
    command.arg("-c").arg(path);
    Ok(command)
}

fn nginx(is_tls: bool, port: u16) -> Result<Command, Failure> {
    let secure = match is_tls {
        true => format!(
            "ssl http2; ssl_certificate {}; ssl_certificate_key {}",
            tls::certificate().display(),
            tls::key().display()
        ),
        false => "http2".to_owned(),
    };
    let folder = tls::scratch().join("nginx");
    fs::create_dir_all(&folder)?;
    let settings = format!(
        "daemon off; master_process off; worker_processes 1; user root; pid nginx-{port}.pid;\n\
         error_log error.log; events {{ worker_connections 4096; }}\n\
         http {{ access_log off; keepalive_requests 100000000; sendfile on;\n\
         server {{ listen 127.0.0.1:{port} {secure}; root {}; }} }}\n",
        root().display()
    );
    let path = folder.join(format!("nginx-{port}.conf"));
    fs::write(&path, settings)?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(&folder).arg("-c").arg(path);
    Ok(command)
}
