//! Answers of the REST API: JSON or CSV, with an entity tag so that an unchanged answer is not sent again.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::AppError;
use crate::spreadsheet::neutral;

/// Form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Format {
    /// JSON, with everything.
    #[default]
    Json,
    /// CSV (RFC 4180): the rows as a table with a header, times in UTC.
    Csv,
}

/// A value that has a table form.
pub(super) trait Table {
    /// Name of the file, without its ending.
    fn file_name(&self) -> String;
    /// Names of the columns; a unit stands last in a name.
    fn columns(&self) -> Vec<&'static str>;
    /// The cells of each row, as many as columns.
    fn rows(&self) -> Vec<Vec<String>>;
}

/// Answers with `value` in the form that was asked for; 304 when the client has it already.
///
/// # Errors
/// A value that can't be written, which is a fault of this program.
pub(super) fn answer<T: Serialize + Table>(
    headers: &HeaderMap,
    format: Format,
    value: &T,
) -> Result<Response, AppError> {
    match format {
        Format::Json => {
            let body = serde_json::to_vec(value).map_err(AppError::internal)?;
            Ok(tagged(headers, body, HeaderValue::from_static("application/json")))
        }
        Format::Csv => {
            let body = csv_bytes(value)?;
            let mut response = tagged(headers, body, HeaderValue::from_static("text/csv; charset=utf-8"));
            let disposition = format!("attachment; filename=\"{}.csv\"", value.file_name());
            let disposition = HeaderValue::try_from(disposition).map_err(AppError::internal)?;
            response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
            Ok(response)
        }
    }
}

fn tagged(headers: &HeaderMap, body: Vec<u8>, content_type: HeaderValue) -> Response {
    let tag = format!("\"{}\"", hex::encode(&Sha256::digest(&body)[..16]));
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let unchanged =
        known.flat_map(|list| list.split(',')).any(|one| one.trim().trim_start_matches("W/") == tag);
    let mut response = if unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut response = Response::new(Body::from(body));
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
        response
    };
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    // Kept, but asked for again each time: an answer is good until the next cycle.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

fn csv_bytes<T: Table>(value: &T) -> Result<Vec<u8>, AppError> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(value.columns()).map_err(AppError::internal)?;
    for row in value.rows() {
        writer.write_record(row.iter().map(|cell| neutral(cell).into_owned())).map_err(AppError::internal)?;
    }
    writer.into_inner().map_err(|error| AppError::internal(error.into_error()))
}

/// An optional value as a cell: empty where absent, which a chart shows as a gap.
pub(super) fn cell<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Rows(Vec<Vec<String>>);

    impl Table for Rows {
        fn file_name(&self) -> String {
            "rows".to_owned()
        }
        fn columns(&self) -> Vec<&'static str> {
            vec!["name", "amount_credits"]
        }
        fn rows(&self) -> Vec<Vec<String>> {
            self.0.clone()
        }
    }

    fn csv(rows: &[[&str; 2]]) -> String {
        let rows = rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        String::from_utf8(csv_bytes(&Rows(rows)).unwrap()).unwrap()
    }

    #[test]
    fn t161_a_cell_that_looks_like_a_formula_is_neutralised() {
        assert_eq!(
            csv(&[["=HYPERLINK(\"x\")", "-1.50"], ["+1", "1.00"], ["@SUM(A1)", ""], ["-2+3", "0.00"]]),
            "name,amount_credits\r\n\"'=HYPERLINK(\"\"x\"\")\",-1.50\r\n'+1,1.00\r\n'@SUM(A1),\r\n'-2+3,0.00\r\n"
        );
    }

    #[test]
    fn t152_no_rows_still_have_a_header() {
        assert_eq!(csv(&[]), "name,amount_credits\r\n");
    }

    #[test]
    fn an_unchanged_answer_is_not_sent_again() {
        let value = Rows(Vec::new());
        let first = answer(&HeaderMap::new(), Format::Json, &value).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(answer(&headers, Format::Json, &value).unwrap().status(), StatusCode::NOT_MODIFIED);
        assert_eq!(answer(&headers, Format::Csv, &value).unwrap().status(), StatusCode::OK);
    }
}
