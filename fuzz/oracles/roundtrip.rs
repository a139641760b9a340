//! A value grown from the input, encoded as a server would: it decodes to itself, and its copies
//! are equal to it.

use echo_wire::resp::{Decoder, Limits};

use crate::{server, tree};

pub(crate) fn check(input: &[u8]) {
    let mut input = input.iter().copied();
    // Once the input is used up every choice is the first, which has no children.
    let mut choose = |bound: usize| usize::from(input.next().unwrap_or(0)) % bound;
    let piece = choose(64) + 1;
    let streams = choose(2) == 1;
    let tree = server::grow(&mut choose, 6);
    let mut bytes = Vec::new();
    server::encode(&tree, &mut bytes, &mut || streams && choose(3) == 1);

    let mut decoder = Decoder::new(Limits::default());
    let mut replies = Vec::new();
    for piece in bytes.chunks(piece) {
        decoder.feed(piece);
        replies.extend(decoder.next().expect("a server's words"));
    }
    assert!(decoder.is_idle());
    let [reply] = &replies[..] else { panic!("{} replies for one", replies.len()) };
    assert_eq!(tree::of(reply.as_ref()), tree);
    for copy in [reply.clone(), reply.detach(), reply.as_ref().to_reply()] {
        assert_eq!(&copy, reply);
        assert_eq!(tree::of(copy.as_ref()), tree);
    }
}
