//! Decoding and encoding, beside the same done by hand.

mod decoders;
mod encoders;
mod shapes;
mod walk;

use self::{
    decoders::{
        Append, Borrowed, Decode, Owned, RedisProtocol, RedisProtocol3, RedisRs, RespRs, Walk,
    },
    shapes::{PIECE, Shape},
};
use crate::{
    meter::measure,
    rounds::{Row, Turn, compare},
};

/// What was measured of one kind of work. Times are for each `unit`.
pub struct Table {
    pub name: String,
    pub unit: &'static str,
    /// Bytes behind each unit.
    pub bytes: f64,
    pub rows: Vec<Row>,
}

pub fn decode(rounds: usize) -> Vec<Table> {
    shapes::all().iter().map(|shape| table(shape, rounds)).collect()
}

fn table(shape: &Shape, rounds: usize) -> Table {
    let large = shape.unit == "MiB";
    let mut contenders = vec![if large { turn::<Append>(shape) } else { turn::<Walk>(shape) }];
    contenders.extend([turn::<Owned>(shape), turn::<Borrowed>(shape), turn::<RedisRs>(shape)]);
    contenders.extend([
        turn::<RedisProtocol>(shape),
        turn::<RedisProtocol3>(shape),
        turn::<RespRs>(shape),
    ]);
    let mut contenders: Vec<_> = contenders.into_iter().flatten().collect();
    // Who starts anew with each piece takes minutes for the largest: fewer rounds settle it.
    let rounds = if shape.piece == PIECE { rounds.min(3) } else { rounds };
    Table {
        name: shape.name.into(),
        unit: shape.unit,
        bytes: shape.stream.len() as f64 / shape.units as f64,
        rows: compare(rounds, &mut contenders),
    }
}

/// None: it cannot do that.
fn turn<'s, D: Decode + Default + 's>(shape: &'s Shape) -> Option<(&'static str, Turn<'s>)>
where
    D::Reply: 's,
{
    if !D::takes(shape) {
        return None;
    }
    let (mut decoder, mut replies) = (D::default(), Vec::new());
    decoder.decode(shape, &mut replies);
    let said: i64 = replies.iter().map(D::say).sum();
    assert_eq!(said, walk::walk(&shape.stream).1, "{} misread {}", D::NAME, shape.name);
    // So often that a turn takes a millisecond and more: the clock is read twice.
    let times = (4_000_000 / shape.stream.len()).clamp(1, 40) as u64;
    let turn = move || {
        let work = || (0..times).for_each(|_| decoder.decode(shape, &mut replies));
        measure(times * shape.units, work).0
    };
    Some((D::NAME, Box::new(turn)))
}

pub fn encode(rounds: usize) -> Vec<Table> {
    encoders::commands().iter().map(|command| encoders::table(command, rounds)).collect()
}
