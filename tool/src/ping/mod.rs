//! `echo-wire ping`: round trips on one fenced connection.

mod histogram;

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use echo_wire::{
    connector::{Connection, Error},
    resp::Command,
};
use serde_json::json;
use tokio::{signal, time::sleep};

use self::histogram::{Histogram, bar, micros};
use crate::{
    arguments::Ping,
    exit::{Exit, Stop, in_words},
    paint::Paint,
};

/// A reply that takes longer is a failure, where the command line names no time.
const REPLY: Duration = Duration::from_secs(5);

pub(crate) async fn run(asked: &Ping, json: bool, paint: Paint) -> Result<Exit, Stop> {
    let mut config = asked.place.looking()?;
    if asked.place.timeout.is_none() {
        config = config.response_timeout(REPLY).map_err(Error::from)?;
    }
    let started = Instant::now();
    let place = config.endpoint().to_string();
    let mut connection = match Connection::connect(&config).await {
        Ok(connection) => connection,
        Err(error) => {
            if json {
                let error = in_words(&error);
                let told =
                    json!({ "place": place, "connect_us": null, "count": 0, "error": error });
                writeln!(io::stdout(), "{told}")?;
            }
            return Err(Stop::At(place, error));
        }
    };
    let connect = started.elapsed();
    let mut trips = Vec::new();
    let failure = tokio::select! {
        measured = measure(&mut connection, asked, &mut trips) => measured.err(),
        _ = signal::ctrl_c() => None,
    };
    let histogram = Histogram::new(trips);
    let mut out = io::stdout().lock();
    if json {
        let mut told = json!({
            "place": place,
            "connect_us": micros(connect),
            "count": histogram.len(),
            "error": failure.as_ref().map(ToString::to_string),
        });
        // Without a reply there are no figures.
        if let (Some(told), Some(figures)) = (told.as_object_mut(), histogram.json().as_object())
            && histogram.len() > 0
        {
            told.extend(figures.clone());
        }
        writeln!(out, "{told}")?;
    } else {
        text(&histogram, &place, connect, paint, &mut out)?;
    }
    match failure {
        None => Ok(Exit::Done),
        Some(error) => Err(Stop::At(place, error)),
    }
}

async fn measure(
    connection: &mut Connection,
    asked: &Ping,
    trips: &mut Vec<Duration>,
) -> Result<(), Error> {
    let mut left = asked.count;
    loop {
        let sent = Instant::now();
        connection.command(Command::new("PING")).await?;
        trips.push(sent.elapsed());
        left = left.saturating_sub(1);
        if left == 0 && asked.count > 0 {
            return Ok(());
        }
        if !asked.interval.is_zero() {
            sleep(asked.interval).await;
        }
    }
}

fn text(
    histogram: &Histogram,
    place: &str,
    connect: Duration,
    paint: Paint,
    out: &mut impl Write,
) -> io::Result<()> {
    let (count, connect) = (histogram.len(), micros(connect));
    writeln!(out, "{}  connect and fence {connect} µs", paint.name(place))?;
    if count == 0 {
        return writeln!(out, "no reply");
    }
    let [min, p50, p90, p99, max] =
        [0, 50, 90, 99, 100].map(|percent| micros(histogram.percentile(percent)));
    let mean = micros(histogram.mean());
    let trips = if count == 1 { "trip" } else { "trips" };
    writeln!(out, "{count} round {trips} in µs")?;
    writeln!(
        out,
        "  min {min}  median {}  mean {mean}  90 % {p90}  99 % {p99}  max {max}\n",
        paint.good(p50)
    )?;
    let buckets = histogram.buckets();
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or_default();
    let digits = most.to_string().len();
    for bucket in buckets {
        let (from, to) = (micros(bucket.from), micros(bucket.to));
        let bar = paint.name(bar(bucket.count, most));
        writeln!(out, "{from:>10.1} … {to:<10.1} {:>digits$} {bar}", bucket.count)?;
    }
    Ok(())
}
