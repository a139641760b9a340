//! In place of `trace` in a build without the feature `tracing`: nothing is told.

use std::{future::Future, marker::PhantomData};

use super::{
    super::{Config, Error, Event, boot::Fenced, step::Step, transport::Transport},
    What,
};

#[derive(Debug, Clone)]
pub(in crate::connector) struct Place;

impl Place {
    #[inline]
    pub(in crate::connector) fn of(_config: &Config) -> Self {
        Self
    }
}

#[derive(Debug)]
pub(super) struct Call<'a>(PhantomData<&'a str>);

impl<'a> Call<'a> {
    #[inline]
    pub(super) fn begin(_what: impl Fn() -> What<'a>) -> Self {
        Self(PhantomData)
    }

    #[inline]
    pub(super) fn end(&mut self, _error: Option<&Error>) {}
}

#[inline]
pub(super) fn connect(
    _config: &Config,
    attempt: impl Future<Output = Result<Fenced<Transport>, Error>>,
) -> impl Future<Output = Result<Fenced<Transport>, Error>> {
    attempt
}

#[inline]
pub(super) fn step(_step: Step) {}

#[inline]
pub(super) fn event(_place: &Place, _event: &Event) {}
