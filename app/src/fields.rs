//! The fields of a form as names and values: what a browser posts, with scripts or without.
//!
//! The browser part reads them from the form and sends them as they are; only the server knows what they mean. So a form
//! says the same and is checked in the same way whether scripts run or not.

use common::problem::FieldProblem;
use serde::{Deserialize, Serialize};

/// Names and values in the order of the form; a name may stand more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `application/x-www-form-urlencoded`, which is also the form of an address's query.
    pub(crate) fn parse(body: &str) -> Self {
        Self(form_urlencoded::parse(body.as_bytes()).into_owned().collect())
    }

    /// As `application/x-www-form-urlencoded`.
    pub(crate) fn encode(&self) -> String {
        let mut body = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.0 {
            body.append_pair(name, value);
        }
        body.finish()
    }

    /// The value of the first field of this name; empty where there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// The values of all fields of this name.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// The value of the field of this name in row `row`; empty where there is none.
    pub(crate) fn nth(&self, name: &str, row: usize) -> &str {
        self.all(name).nth(row).unwrap_or_default()
    }

    /// One more field.
    pub(crate) fn push(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// One value in place of all of this name.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        let mut value = Some(value.into());
        self.0.retain_mut(|(one, old)| {
            if one != name {
                return true;
            }
            value.take().map(|value| *old = value).is_some()
        });
        if let Some(value) = value {
            self.push(name, value);
        }
    }

    /// Takes the fields of these names out.
    pub(crate) fn remove(&mut self, names: &[&str]) {
        self.0.retain(|(one, _)| !names.contains(&one.as_str()));
    }
}

/// What is wrong with a field, if anything.
pub(crate) fn problem_of<'a>(errors: &'a [FieldProblem], field: &str) -> Option<&'a str> {
    errors.iter().find(|error| error.field == field).map(|error| error.detail.as_str())
}

/// The text of an area as HTML: Leptos writes the children of a `textarea` as they are. A browser leaves out a line break
/// that comes first, so there is one more.
pub(crate) fn text_of_area(text: &str) -> String {
    format!("\n{}", escaped(text))
}

/// A text as HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_posts_is_read_and_written_the_same() {
        let body = "name=a+b%26c&chips=8&chips=&note=%C3%BC%0A";
        let fields = Fields::parse(body);
        assert_eq!(fields.get("name"), "a b&c");
        assert_eq!((fields.nth("chips", 0), fields.nth("chips", 1), fields.nth("chips", 2)), ("8", "", ""));
        assert_eq!(fields.get("note"), "ü\n");
        assert_eq!(fields.encode(), body);
    }

    #[test]
    fn setting_leaves_one_value() {
        let mut fields = Fields::parse("a=1&b=2&a=3");
        fields.set("a", "4");
        fields.set("c", "5");
        assert_eq!(fields.encode(), "a=4&b=2&c=5");
        fields.remove(&["a", "c"]);
        assert_eq!(fields.encode(), "b=2");
    }
}
