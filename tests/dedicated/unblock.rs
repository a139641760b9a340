//! How a wait is ended on the server: by UNBLOCK, asked until the reply is in, and never while the
//! next command could be hit by it. Against scripts, so that each order can be brought about.

use std::time::Duration;

use echo_wire::{
    connector::{Connector, Dedicated, Policy},
    resp::Command,
};
use tokio::{select, task::yield_now, time::sleep};

use crate::{
    bed::{blpop, popped, scripted},
    support::{Script, VERSION_KEY, bulk},
};

/// Goes through the connect sequence as a Valkey of this version that calls the connection 42.
async fn pass_as(peer: &mut Script, version: &str) {
    loop {
        let command = peer.command().await;
        match command[0].as_str() {
            "HELLO" => {
                let mut hello = b"%4\r\n".to_vec();
                for (field, value) in
                    [("server", "valkey"), ("version", version), ("role", "master")]
                {
                    hello.extend([bulk(field), bulk(value)].concat());
                }
                hello.extend([bulk("id"), b":42\r\n".to_vec()].concat());
                peer.send(hello).await;
            }
            "GET" => return peer.send(bulk(crate::support::WIRE)).await,
            _ => peer.send("+OK\r\n").await,
        }
    }
}

/// A connector's own link, a dedicated connection, and a third peer for what is dialled later.
async fn valkey(version: &str) -> (Connector, Script, Dedicated, Script, Script) {
    let policy = Policy { drain_within: Duration::from_secs(3), ..Policy::default() };
    let (connector, shared, [mut own, later]) = scripted(policy).await;
    let (dedicated, ()) = tokio::join!(connector.dedicated(), pass_as(&mut own, version));
    (connector, shared, dedicated.unwrap(), own, later)
}

/// Sends a pop that the peer receives, and drops it.
async fn give_up(dedicated: &mut Dedicated, own: &mut Script) {
    select! {
        reply = dedicated.command(blpop(0)) => panic!("{reply:?} came"),
        () = own.expect_command(&["BLPOP", "q", "0"]) => {}
    }
}

const UNBLOCK: [&str; 3] = ["CLIENT", "UNBLOCK", "42"];
const ELEMENT: &[u8] = b"*2\r\n$1\r\nq\r\n$1\r\nx\r\n";

async fn ping(dedicated: &mut Dedicated) -> String {
    dedicated.command(Command::new("PING")).await.unwrap().to().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_was_ended_gives_its_connection_back() {
    let (connector, mut shared, mut dedicated, mut own, _later) = valkey("9.0.0").await;
    give_up(&mut dedicated, &mut own).await;
    let play = async {
        shared.expect_command(&UNBLOCK).await;
        shared.send(":1\r\n").await;
        own.send("_\r\n").await;
        own.expect_command(&["PING"]).await;
        own.send("+PONG\r\n").await;
    };
    let (pong, ()) = tokio::join!(ping(&mut dedicated), play);
    assert_eq!((pong.as_str(), connector.stats().orphans), ("PONG", 0));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_hold_it_yet_is_asked_again() {
    let (connector, mut shared, mut dedicated, mut own, _later) = valkey("9.0.0").await;
    give_up(&mut dedicated, &mut own).await;
    let play = async {
        for _ in 0..5 {
            shared.expect_command(&UNBLOCK).await;
            shared.send(":0\r\n").await;
        }
        shared.expect_command(&UNBLOCK).await;
        shared.send(":1\r\n").await;
        own.send("_\r\n").await;
        own.expect_command(&["PING"]).await;
        own.send("+PONG\r\n").await;
    };
    let (pong, ()) = tokio::join!(ping(&mut dedicated), play);
    assert_eq!((pong.as_str(), connector.stats().dedicated), ("PONG", 1));
}

#[tokio::test(start_paused = true)]
async fn one_that_has_popped_already_answers_with_an_orphan() {
    let (connector, mut shared, mut dedicated, mut own, _later) = valkey("9.0.0").await;
    give_up(&mut dedicated, &mut own).await;
    let play = async {
        shared.expect_command(&UNBLOCK).await;
        shared.send(":0\r\n").await;
        own.send(ELEMENT).await;
        own.expect_command(&["PING"]).await;
        own.send("+PONG\r\n").await;
    };
    let (pong, ()) = tokio::join!(ping(&mut dedicated), play);
    assert_eq!(pong, "PONG");
    let orphans = connector.take_orphans();
    assert_eq!((orphans.len(), popped(orphans[0].reply())), (1, "x".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn the_next_command_is_not_sent_while_an_unblock_is_under_way() {
    let (_connector, mut shared, mut dedicated, mut own, _later) = valkey("9.0.0").await;
    give_up(&mut dedicated, &mut own).await;
    let play = async {
        shared.expect_command(&UNBLOCK).await;
        // The pop is answered, the UNBLOCK is not yet: it could hit what comes next.
        own.send(ELEMENT).await;
        let mut next = Box::pin(own.expect_command(&["BLPOP", "q", "0"]));
        for _ in 0..1000 {
            select! {
                biased;
                () = &mut next => panic!("it was sent too early"),
                () = yield_now() => {}
            }
        }
        shared.send(":0\r\n").await;
        next.await;
        own.send("*2\r\n$1\r\nq\r\n$1\r\ny\r\n").await;
    };
    let (reply, ()) = tokio::join!(dedicated.command(blpop(0)), play);
    assert_eq!(popped(&reply.unwrap()), "y");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_there_needs_no_unblock() {
    let (connector, shared, mut dedicated, mut own, _later) = valkey("9.0.0").await;
    let mut pop = Box::pin(dedicated.command(blpop(0)));
    select! {
        reply = &mut pop => panic!("{reply:?} came"),
        () = own.expect_command(&["BLPOP", "q", "0"]) => {}
    }
    own.send(ELEMENT).await;
    drop(pop);
    let play = async {
        own.expect_command(&["PING"]).await;
        own.send("+PONG\r\n").await;
    };
    let (pong, ()) = tokio::join!(ping(&mut dedicated), play);
    assert_eq!((pong.as_str(), connector.take_orphans().len()), ("PONG", 1));
    let said = String::from_utf8_lossy(shared.received()).into_owned();
    assert!(!said.contains("UNBLOCK"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_lets_go_loses_the_connection_in_order() {
    let (connector, mut shared, mut dedicated, mut own, mut later) = valkey("9.0.0").await;
    give_up(&mut dedicated, &mut own).await;
    let unblocked = async {
        loop {
            shared.expect_command(&UNBLOCK).await;
            shared.send(":0\r\n").await;
        }
    };
    let play = async {
        // Our end comes first, then what it had popped is still taken in.
        own.expect_close().await;
        own.send(ELEMENT).await;
        own.finish().await;
        pass_as(&mut later, "9.0.0").await;
        later.expect_command(&["PING"]).await;
        later.send("+PONG\r\n").await;
    };
    let play = async { tokio::join!(ping(&mut dedicated), play) };
    let (pong, ()) = select! {
        played = play => played,
        () = unblocked => panic!("it ended"),
    };
    assert_eq!((pong.as_str(), connector.take_orphans().len()), ("PONG", 1));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_may_die_of_an_unblock_in_a_pause_gets_it_so_that_a_pause_holds_it_back() {
    for version in ["8.1.3", "7.2.4"] {
        let (connector, mut shared, mut dedicated, mut own, _later) = valkey(version).await;
        give_up(&mut dedicated, &mut own).await;
        let play = async {
            for unblocked in [0, 1] {
                shared.expect_command(&["MULTI"]).await;
                shared.expect_command(&["PFCOUNT", VERSION_KEY]).await;
                shared.expect_command(&UNBLOCK).await;
                shared.expect_command(&["EXEC"]).await;
                shared.send("+OK\r\n+QUEUED\r\n+QUEUED\r\n").await;
                shared.send(format!("*2\r\n-WRONGTYPE no\r\n:{unblocked}\r\n")).await;
            }
            own.send("_\r\n").await;
            own.expect_command(&["PING"]).await;
            own.send("+PONG\r\n").await;
        };
        let (pong, ()) = tokio::join!(ping(&mut dedicated), play);
        assert_eq!((pong.as_str(), connector.stats().dedicated), ("PONG", 1));
    }
}

#[tokio::test(start_paused = true)]
async fn one_whose_unblock_is_refused_is_left_in_order() {
    let (connector, mut shared, mut dedicated, mut own, mut later) = valkey("9.0.0").await;
    give_up(&mut dedicated, &mut own).await;
    let play = async {
        shared.expect_command(&UNBLOCK).await;
        shared.send("-NOPERM no\r\n").await;
        own.expect_close().await;
        own.finish().await;
        pass_as(&mut later, "9.0.0").await;
        later.expect_command(&["PING"]).await;
        later.send("+PONG\r\n").await;
    };
    let (pong, ()) = tokio::join!(ping(&mut dedicated), play);
    assert_eq!((pong.as_str(), connector.stats().orphans), ("PONG", 0));
}

#[tokio::test(start_paused = true)]
async fn an_id_is_not_used_on_another_link_than_it_was_learned_beside() {
    let (connector, shared, mut dedicated, mut own, mut again) = valkey("9.0.0").await;
    // The shared link is lost and comes back: to another server, for all that is known.
    shared.close();
    pass_as(&mut again, "9.0.0").await;
    connector.ready().await.unwrap();
    assert_eq!(connector.stats().reconnects, 1);
    give_up(&mut dedicated, &mut own).await;
    own.expect_close().await;
    drop((dedicated, connector));
    again.expect_close().await;
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_reply_is_heard_out_before_the_end_is_said() {
    let (connector, mut shared, mut dedicated, mut own, _later) = valkey("9.0.0").await;
    give_up(&mut dedicated, &mut own).await;
    let play = async {
        shared.expect_command(&UNBLOCK).await;
        own.send(&ELEMENT[..10]).await;
        own.taken().await;
        shared.send("-NOPERM no\r\n").await;
        sleep(Duration::from_secs(1)).await;
        own.send(&ELEMENT[10..]).await;
        own.expect_command(&["PING"]).await;
        own.send("+PONG\r\n").await;
    };
    let (pong, ()) = tokio::join!(ping(&mut dedicated), play);
    assert_eq!((pong.as_str(), connector.take_orphans().len()), ("PONG", 1));
}

#[tokio::test(start_paused = true)]
async fn a_closing_connector_still_carries_the_unblock() {
    let (connector, mut shared, mut dedicated, mut own, _later) = valkey("9.0.0").await;
    give_up(&mut dedicated, &mut own).await;
    let play = async {
        shared.expect_command(&UNBLOCK).await;
        shared.send(":0\r\n").await;
        own.send(ELEMENT).await;
        shared.expect_close().await;
    };
    tokio::join!(connector.close(), play);
    assert_eq!(connector.take_orphans().len(), 1);
}
