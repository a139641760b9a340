//! How a lost server is looked for again: the name resolved anew each time, every address tried,
//! attempts spaced.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use echo_wire::connector::{Addresses, Config, Connector, Event, Policy, Resolve};

use crate::{
    bed::{disconnected, echo, event, everywhere, millis, on_each_server, policy, ready},
    support::{Cut, Port, Proxy, until},
};

/// Answers what it is told to, and counts.
#[derive(Debug, Clone, Default)]
struct Registry {
    addresses: Arc<Mutex<Vec<SocketAddr>>>,
    asked: Arc<AtomicUsize>,
}

impl Registry {
    fn leads_to(&self, addresses: &[String]) {
        let parsed = addresses.iter().map(|address| address.parse().unwrap());
        *self.addresses.lock().unwrap() = parsed.collect();
    }

    fn asked(&self) -> usize {
        self.asked.load(SeqCst)
    }
}

impl Resolve for Registry {
    fn resolve<'a>(&'a self, _host: &'a str, _port: u16) -> Addresses<'a> {
        self.asked.fetch_add(1, SeqCst);
        let addresses = self.addresses.lock().unwrap().clone();
        Box::pin(async move { Ok(addresses) })
    }
}

fn by_name(registry: &Registry, policy: Policy) -> Config {
    Config::tcp("jobs.internal", 6379).policy(policy).resolver(registry.clone())
}

/// Where nobody listens.
fn closed(port: &Port) -> String {
    format!("127.0.0.1:{}", port.number())
}

#[test]
fn a_server_that_moved_is_found_by_its_name() {
    everywhere(async |server| {
        let (registry, nobody) = (Registry::default(), Port::claim());
        registry.leads_to(&[server.address()]);
        let connector = Connector::connect(by_name(&registry, policy())).await.unwrap();
        let mut events = connector.events();
        let moved = server.flavor().server().start();
        // First to nowhere, then to no address at all, then to its new place.
        registry.leads_to(&[closed(&nobody)]);
        server.kill();
        disconnected(&mut events).await;
        let attempts = async |more: u64| {
            let enough = connector.stats().failed_connects + more;
            until("attempts fail", || connector.stats().failed_connects >= enough).await;
        };
        attempts(2).await;
        registry.leads_to(&[]);
        attempts(2).await;
        registry.leads_to(&[moved.address()]);
        ready(&connector).await;
        assert_eq!(echo(&connector, "found").await.unwrap(), "found");
        let stats = connector.stats();
        assert_eq!(registry.asked() as u64, stats.connects + stats.failed_connects);
    });
}

#[test]
fn every_address_of_a_name_is_tried_within_one_attempt() {
    on_each_server(async |flavor| {
        let server = flavor.server().start();
        let (registry, nobody) = (Registry::default(), Port::claim());
        let v6 = format!("[::1]:{}", nobody.number());
        registry.leads_to(&[closed(&nobody), v6, server.address()]);
        let connector = Connector::connect(by_name(&registry, policy())).await.unwrap();
        assert_eq!(registry.asked(), 1);
        assert_eq!(connector.stats().failed_connects, 0);
        let mut events = connector.events();
        server.cli(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        disconnected(&mut events).await;
        ready(&connector).await;
        assert_eq!(registry.asked(), 2);
    });
}

#[test]
fn attempts_at_a_closed_port_wait_longer_each_time_and_never_not_at_all() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let registry = Registry::default();
        registry.leads_to(&[proxy.address()]);
        let (base, cap) = (millis(4), millis(40));
        let connector = Connector::connect(by_name(&registry, policy())).await.unwrap();
        let mut events = connector.events();
        proxy.refuse();
        proxy.cut(Cut::Close);
        let mut ceiling = base;
        for n in 0..8 {
            let (after, failures) = event(&mut events, |event| match event {
                Event::Reconnecting { after, failures, .. } => Some((after, failures)),
                _ => None,
            })
            .await;
            let least = ceiling / 10 - Duration::from_nanos(1);
            assert!(after >= least && after <= ceiling, "{n}: {after:?} of {ceiling:?}");
            assert_eq!(failures, n);
            ceiling = (ceiling * 2).min(cap);
        }
        // One attempt a wait, none in between.
        let attempts = registry.asked() as u64;
        assert!((8..=9).contains(&attempts), "{attempts} attempts in 8 waits");
        proxy.listen();
        ready(&connector).await;
    });
}
