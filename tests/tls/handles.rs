//! Every kind of connection speaks TLS, where the config says so.

use echo_wire::{
    connector::{Connection, Connector, Delivery, Pool, Script},
    resp::Command,
};
use tokio::net::TcpStream;

use crate::bed::{Bed, bed, echo};

/// Clients that came in at the port that speaks TLS.
fn secured(bed: &Bed) -> usize {
    let port = format!("laddr=127.0.0.1:{} ", bed.port());
    bed.server.clients().iter().filter(|client| client.contains(&port)).count()
}

#[tokio::test]
async fn a_connector_its_dedicated_connections_and_a_pool() {
    let Some(bed) = bed() else { return };
    static ECHO: Script = Script::new("return ARGV[1]");
    let connector = Connector::connect(bed.config()).await.unwrap();
    let mut worker = connector.dedicated().await.unwrap();
    let pop = tokio::spawn(async move {
        let popped = worker.command(Command::new("BLPOP").arg("q").arg(0)).await.unwrap();
        (worker, popped.to::<(String, String)>().unwrap().1)
    });
    connector.command(Command::new("RPUSH").arg("q").arg("job")).await.unwrap();
    let (worker, job) = pop.await.unwrap();
    assert_eq!(job, "job");
    let said = connector.eval(ECHO.call().arg("said")).await.unwrap();
    assert_eq!(said.to::<String>().unwrap(), "said");
    let mut news = connector.subscribe(["news"]).await.unwrap();
    connector.command(Command::new("PUBLISH").arg("news").arg("old")).await.unwrap();
    let Some(Delivery::Message(message)) = news.next().await else { panic!() };
    assert_eq!(message.payload(), b"old");
    assert_eq!(secured(&bed), 2);
    let pool = Pool::connect(bed.config(), 3).await.unwrap();
    for _ in 0..3 {
        pool.command(Command::new("PING")).await.unwrap();
    }
    assert_eq!(secured(&bed), 5);
    // Their ends are announced and taken for what they are.
    pool.close().await;
    worker.close().await;
    connector.close().await;
}

#[tokio::test]
async fn a_stream_of_ones_own() {
    let Some(bed) = bed() else { return };
    let stream = TcpStream::connect(bed.address()).await.unwrap();
    echo(&mut Connection::over(stream, &bed.config()).await.unwrap()).await;
    let address = bed.address();
    let dial = move || {
        let address = address.clone();
        async move { TcpStream::connect(address).await }
    };
    let connector = Connector::over(dial, bed.config()).await.unwrap();
    connector.command(Command::new("PING")).await.unwrap();
    assert_eq!(secured(&bed), 1);
}
