//! What was asked and what was answered, step by step, out of the bytes that passed.

use std::time::{Duration, Instant};

use echo_wire::resp::{Decoder, Limits, Reply, Value};
use serde_json::{Value as Json, json};

use super::tap::{Passed, Way};
use crate::escape;

/// One command of the connect sequence, and its answer if one came.
#[derive(Debug, PartialEq)]
pub(crate) struct Step {
    /// Commands of one flight went out together. Counted from 1.
    pub(crate) flight: usize,
    /// The command's words, no password among them.
    pub(crate) sent: Vec<String>,
    pub(crate) answer: Option<Answer>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    /// On one line, for a person.
    pub(crate) shown: String,
    pub(crate) is_error: bool,
    /// From when the command left.
    pub(crate) after: Duration,
}

/// Longest text of an answer that is shown whole, in bytes.
const SHOWN: usize = 80;
const SECRET: &str = "(secret)";

/// The steps. Pushes answer nothing and are left out.
pub(crate) fn steps(passed: Passed) -> Vec<Step> {
    let (mut out, mut back) = (Decoder::new(Limits::default()), Decoder::new(Limits::default()));
    let mut steps: Vec<(Step, Instant)> = Vec::new();
    let mut answered = 0;
    let mut flight = 0;
    for (way, at, bytes) in passed {
        match way {
            Way::Out => {
                if answered == steps.len() && out.is_idle() {
                    flight += 1;
                }
                out.feed(&bytes);
                while let Ok(Some(command)) = out.next() {
                    let sent = words(&command);
                    steps.push((Step { flight, sent, answer: None }, at));
                }
            }
            Way::In => {
                back.feed(&bytes);
                while let Ok(Some(reply)) = back.next() {
                    if reply.is_push() {
                        continue;
                    }
                    let Some((step, left)) = steps.get_mut(answered) else { break };
                    let hides = step.sent.iter().any(|word| word == SECRET);
                    let shown = shown(&reply, hides);
                    let after = at.saturating_duration_since(*left);
                    step.answer = Some(Answer { shown, is_error: reply.is_error(), after });
                    answered += 1;
                }
            }
        }
    }
    steps.into_iter().map(|(step, _left)| step).collect()
}

/// A command's words, its password hidden: the last of AUTH, the second behind AUTH in HELLO.
fn words(command: &Reply) -> Vec<String> {
    let elements = command.value().elements();
    let texts = elements.into_iter().flatten().filter_map(|word| word.value().text());
    let mut words: Vec<String> = texts.map(|text| escape::short(text, SHOWN)).collect();
    let is = |word: Option<&String>, name: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(name));
    if is(words.first(), "AUTH") {
        words.iter_mut().skip(1).last().into_iter().for_each(|secret| *secret = SECRET.into());
    } else if is(words.first(), "HELLO")
        && let Some(auth) = words.iter().position(|word| word == "AUTH")
        && let Some(secret) = words.get_mut(auth + 2)
    {
        *secret = SECRET.into();
    }
    words
}

fn shown(reply: &Reply, hides: bool) -> String {
    match reply.value() {
        // A server may name the arguments of a command that it does not know.
        Value::SimpleError(_) | Value::BulkError(_) if hides => match reply.as_error() {
            Some(error) if error.code().bytes().all(|byte| byte.is_ascii_uppercase()) => {
                format!("{} (its text is not shown)", error.code())
            }
            _ => "an error (its text is not shown)".to_owned(),
        },
        Value::Map(pairs) if pairs.get(b"server").is_some() => {
            let field = |name: &str| {
                let value = pairs.get(name.as_bytes())?.value();
                Some(escape::short(value.text()?, SHOWN))
            };
            let product = [field("server"), field("version")].into_iter().flatten();
            let role = field("role").map(|role| format!(", role {role}")).unwrap_or_default();
            format!("{}{role}", product.collect::<Vec<_>>().join(" "))
        }
        Value::Map(pairs) => few(pairs.flat().iter().map(|it| it.value()), pairs.flat().len()),
        Value::Array(items) | Value::Set(items) => {
            few(items.iter().map(|item| item.value()), items.len())
        }
        value => leaf(value),
    }
}

/// The first elements of an aggregate.
fn few<'a>(values: impl Iterator<Item = Value<'a>>, len: usize) -> String {
    const FEW: usize = 4;
    let head: Vec<_> = values.take(FEW).map(leaf).collect();
    format!("{}{}", head.join(" "), if len > FEW { " …" } else { "" })
}

fn leaf(value: Value<'_>) -> String {
    match value {
        Value::Null(_) => "nothing".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Double(number) => number.to_string(),
        value => match value.text() {
            Some(text) => escape::short(text, SHOWN),
            None => value.type_name().to_owned(),
        },
    }
}

impl Step {
    /// Whether it writes to the store. Of all that a connect sends only the claim does.
    pub(crate) fn writes(&self) -> bool {
        self.sent.first().is_some_and(|name| name == "SET")
    }

    pub(crate) fn json(&self) -> Json {
        let answer = self.answer.as_ref().map(|answer| {
            let micros = u64::try_from(answer.after.as_micros()).unwrap_or(u64::MAX);
            json!({ "text": answer.shown, "error": answer.is_error, "after_us": micros })
        });
        json!({ "flight": self.flight, "sent": self.sent, "answer": answer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(dialogue: &[(Way, &str)]) -> Passed {
        let at = Instant::now();
        dialogue.iter().map(|(way, text)| (*way, at, text.as_bytes().to_vec())).collect()
    }

    fn told(dialogue: &[(Way, &str)]) -> Vec<String> {
        let tell = |step: &Step| {
            let answer = step.answer.as_ref().map_or("-", |answer| &answer.shown);
            format!("{} {} => {answer}", step.flight, step.sent.join(" "))
        };
        steps(passed(dialogue)).iter().map(tell).collect()
    }

    #[test]
    fn answers_find_their_commands_however_the_bytes_were_cut() {
        let told = told(&[
            (Way::Out, "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*2\r\n$3\r\nGET"),
            (Way::In, "%1\r\n$6\r\nserver\r\n$6\r\nval"),
            (Way::Out, "\r\n$1\r\nk\r\n"),
            (Way::In, "key\r\n>2\r\n+invalidate\r\n*0\r\n_\r\n"),
            (Way::Out, "*4\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\nNX\r\n"),
        ]);
        assert_eq!(told, ["1 HELLO 3 => valkey", "1 GET k => nothing", "2 SET k v NX => -"]);
    }

    #[test]
    fn no_password_is_told_and_no_answer_that_may_repeat_it() {
        let told = told(&[
            (Way::Out, "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$2\r\npw\r\n"),
            (Way::In, "-ERR unknown command 'HELLO', with args 'AUTH' 'u' 'pw'\r\n"),
            (Way::Out, "*2\r\n$4\r\nauth\r\n$2\r\npw\r\n"),
            (Way::In, "-pw is wrong\r\n"),
        ]);
        assert_eq!(
            told,
            [
                "1 HELLO 3 AUTH u (secret) => ERR (its text is not shown)",
                "2 auth (secret) => an error (its text is not shown)",
            ]
        );
    }
}
