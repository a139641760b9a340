//! A value for a program: `{"type": …, "value": …}`, aggregates nested.

use echo_wire::resp::{Null, ReplyRef, Value};
use serde_json::{Map, Value as Json, json};

use crate::escape;

/// `type`, `value` where there is one, and what else belongs to the type.
pub(crate) fn reply(reply: ReplyRef<'_>) -> Map<String, Json> {
    let value = reply.value();
    let mut tagged = Map::new();
    tagged.insert("type".into(), value.type_name().into());
    let (key, json) = match value {
        Value::Map(pairs) => ("value", pairs_of(pairs.iter())),
        Value::Array(items) | Value::Set(items) | Value::Push(items) => {
            ("value", items.iter().map(|item| Json::Object(self::reply(item))).collect())
        }
        Value::Null(form) => ("form", json!(form_of(form))),
        Value::Integer(number) => ("value", json!(number)),
        Value::Boolean(truth) => ("value", json!(truth)),
        // JSON has no infinities; a program that wants them reads the text.
        Value::Double(number) if number.is_finite() => ("value", json!(number)),
        Value::Double(number) => ("value", json!(number.to_string())),
        Value::VerbatimString { format, text } => {
            tagged.insert("format".into(), escape::json(format));
            ("value", escape::json(text))
        }
        text => ("value", escape::json(text.text().unwrap_or_default())),
    };
    tagged.insert(key.into(), json);
    let attributes = reply.attributes().map(|attribute| pairs_of(attribute.iter()));
    let attributes: Vec<Json> = attributes.collect();
    if !attributes.is_empty() {
        tagged.insert("attributes".into(), attributes.into());
    }
    tagged
}

fn pairs_of<'a>(pairs: impl Iterator<Item = (ReplyRef<'a>, ReplyRef<'a>)>) -> Json {
    pairs.map(|(key, value)| json!([reply(key), reply(value)])).collect()
}

fn form_of(form: Null) -> &'static str {
    match form {
        Null::Bulk => "bulk string",
        Null::Array => "array",
        Null::Resp3 => "RESP3",
    }
}
