//! Any bytes: the decoder says what the plain one of the tests says, owned and borrowed.

use echo_wire::resp::{Decoder, Limits, Reply};

use crate::{
    reference::{self, Stop},
    tree,
};

pub(crate) fn check(stream: &[u8]) {
    let (mut owned, mut borrowed) = (fed(stream), fed(stream));
    let mut rest = stream;
    let mut slot = Reply::default();
    loop {
        let found = owned.next_into(&mut slot);
        let lent = borrowed.next_ref().map(|lent| lent.map(tree::of));
        match reference::decode(rest) {
            Ok((expected, len)) => {
                assert_eq!(found, Ok(true));
                assert_eq!(tree::of(slot.as_ref()), expected);
                assert_eq!(lent, Ok(Some(expected)));
                rest = &rest[len..];
                assert_eq!(owned.buffered().len(), rest.len(), "consumed and left make the whole");
            }
            Err(Stop::More) => {
                assert_eq!((found, lent), (Ok(false), Ok(None)));
                return assert_eq!(owned.is_idle(), rest.is_empty());
            }
            Err(Stop::Bad) => return assert_eq!(found.unwrap_err(), lent.unwrap_err()),
        }
    }
}

fn fed(stream: &[u8]) -> Decoder {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(stream);
    decoder
}
