//! Reading JSON so that a fault names the field where it is.

use serde::de::DeserializeOwned;

/// What is wrong with a JSON text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{detail} (line {line}, column {column})", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct JsonFault {
    /// Path of the field, such as `bids[3].limit`; empty where the text is no JSON at its outermost.
    pub path: String,
    /// What is wrong.
    pub detail: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// Reads one JSON value with nothing after it.
///
/// # Errors
/// The path of the field at fault and what is wrong with it.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, JsonFault> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        // "?" stands for a place whose field is not known yet, "." for the outermost value.
        let known = path.trim_end_matches(['?', '.']);
        fault(known.to_owned(), error.inner())
    })?;
    deserializer.end().map_err(|error| fault(String::new(), &error))?;
    Ok(value)
}

fn fault(path: String, error: &serde_json::Error) -> JsonFault {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let detail = text.strip_suffix(&place).unwrap_or(&text).to_owned();
    JsonFault { path, detail, line: error.line(), column: error.column() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use market::Snapshot;

    #[test]
    fn the_path_of_the_field_is_named() {
        for (text, path, detail) in [
            ("", "", "EOF while parsing a value"),
            ("{", "", "EOF while parsing an object"),
            (r#"{"cycle": -1}"#, "cycle", "invalid value: integer `-1`, expected u64"),
            (
                r#"{"cycle":1,"time":"2026-11-30T14:03:00Z","chip_types":[{"id":"H100","shared":1.5}]}"#,
                "chip_types[0].shared",
                "invalid type: floating point `1.5`, expected u64",
            ),
            (
                r#"{"cycle":1,"time":"2026-11-30T14:03:00Z","chip_types":[],"pools":[{"id":"a","weight":"1,000"}]}"#,
                "pools[0].weight",
                "\"1,000\" is not a decimal number; write digits with a point before the decimals, like 1.25",
            ),
        ] {
            let fault = parse::<Snapshot>(text.as_bytes()).unwrap_err();
            assert_eq!((fault.path.as_str(), fault.detail.as_str()), (path, detail), "{text}");
        }
    }

    #[test]
    fn what_follows_the_value_is_refused() {
        let fault = parse::<u32>(b"1 2").unwrap_err();
        assert_eq!(fault.to_string(), "trailing characters (line 1, column 3)");
    }
}
