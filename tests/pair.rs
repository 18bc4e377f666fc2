//! The client against the server of this crate.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fairmux as client_crate;
use fairmux as server_crate;

mod scenarios;

/// Both have last words to write while the wire is full: each reads on, or neither could write.
#[tokio::test(start_paused = true)]
async fn two_ends_part_over_a_wire_that_holds_next_to_nothing() {
    use std::time::Duration;

    for wire in [1, 2, 8, 64] {
        let (near, far) = tokio::io::duplex(wire);
        let server = tokio::spawn(async move {
            let mut connection = fairmux::server::handshake(far).await.unwrap();
            let accepted = connection.accept().await.unwrap().unwrap();
            connection.graceful_shutdown();
            drop(accepted);
            connection.accept().await.is_none()
        });
        let (mut requests, connection) = fairmux::client::handshake(near).await.unwrap();
        let client = tokio::spawn(connection);
        let request = http::Request::post("http://example.test/")
            .body(())
            .unwrap();
        let handles = requests.send_request(request, false).unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        drop((requests, handles));
        let ends = async { (client.await.unwrap(), server.await.unwrap()) };
        let (client, server) = tokio::time::timeout(Duration::from_secs(5), ends)
            .await
            .expect("both end");
        assert!(client.is_ok() && server, "{wire}");
    }
}
