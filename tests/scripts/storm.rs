//! Calls among other commands, in pipelines and in transactions: the order is kept, each runs once,
//! and no NOSCRIPT is answered.
