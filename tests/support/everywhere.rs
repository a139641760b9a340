//! One test on each server, in both generations of the protocol.

use echo_wire::{connector::Config, resp::Protocol};
use tokio::runtime::Builder;

use super::{flavor::flavors, server::Server};

/// Runs the test on an empty store of each, on a runtime of one thread.
pub fn everywhere(test: impl AsyncFn(&Server, Config)) {
    for flavor in flavors() {
        let server = flavor.server().start();
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            server.cli(&["FLUSHALL"]);
            let config = Config::from_url(&server.url()).unwrap().protocol(protocol);
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(test(&server, config));
        }
    }
}
