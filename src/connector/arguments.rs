//! Keys and branded ids as arguments of commands: here, because the keyspace knows nothing of
//! commands, nor do commands of keys.

use crate::{
    keyspace::{BrandedId, Key},
    resp::Arg,
};

impl<'a> From<&'a Key> for Arg<'a> {
    #[inline]
    fn from(key: &'a Key) -> Self {
        key.as_bytes().into()
    }
}

impl<'a> From<&'a BrandedId> for Arg<'a> {
    #[inline]
    fn from(id: &'a BrandedId) -> Self {
        id.as_bytes().into()
    }
}
