//! In place of `meter` in a build without the feature `metrics`: nothing is counted.

use super::{
    super::{Error, Event, boot::Fenced, transport::Transport},
    What,
};

#[derive(Debug)]
pub(super) struct Call;

impl Call {
    #[inline]
    pub(super) fn begin<'a>(_what: impl Fn() -> What<'a>) -> Self {
        Self
    }

    #[inline]
    pub(super) fn end(&mut self, _error: Option<&Error>) {}
}

#[inline]
pub(super) fn connected(_result: &Result<Fenced<Transport>, Error>) {}

#[inline]
pub(super) fn event(_event: &Event) {}

#[inline]
pub(super) fn reconnected() {}
