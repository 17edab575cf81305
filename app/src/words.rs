//! Names that the wire types give in code, in words; and addresses that hold a page's state.

use std::fmt::Write as _;

use common::api::{GroupBy, Reason, Span};

/// A reason as a short label; the sentence with its numbers comes from the server.
pub(crate) const fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Filled => "filled",
        Reason::PartlyFilled => "partly filled",
        Reason::PriceAboveLimit => "price above limit",
        Reason::TeamSpendingCap => "team spending cap",
        Reason::GangDoesNotFit => "too few chips left",
        Reason::BehindInQueue => "behind in queue",
        Reason::NotInWindow => "not in its window",
        Reason::NoSupply => "no supply",
        Reason::LostTie => "lost a tie",
        Reason::Paused => "paused",
    }
}

/// A span as it stands on a switch.
pub(crate) const fn span(span: Span) -> &'static str {
    match span {
        Span::Hour => "1 h",
        Span::Day => "24 h",
        Span::Week => "7 d",
        Span::Quarter => "90 d",
    }
}

/// A span within a sentence: "over the last …".
pub(crate) const fn last_span(span: Span) -> &'static str {
    match span {
        Span::Hour => "the last hour",
        Span::Day => "the last 24 hours",
        Span::Week => "the last 7 days",
        Span::Quarter => "the last 90 days",
    }
}

/// What a series stands for.
pub(crate) const fn group(group: GroupBy) -> &'static str {
    match group {
        GroupBy::Pool => "Pool",
        GroupBy::Team => "Team",
        GroupBy::ChipType => "Chip type",
    }
}

/// An address with the parameters that have a value, in the given order.
pub(crate) fn address(path: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let mut text = path.to_owned();
    let given = parameters.iter().filter_map(|(name, value)| value.map(|value| (name, value)));
    for (index, (name, value)) in given.enumerate() {
        text.push(if index == 0 { '?' } else { '&' });
        text.push_str(name);
        text.push('=');
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                text.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_what_has_a_value() {
        assert_eq!(address("/", &[("chip", None)]), "/");
        assert_eq!(
            address("/cycles", &[("a", None), ("chip", Some("TPU v5p")), ("cursor", Some("a+b/ü"))]),
            "/cycles?chip=TPU%20v5p&cursor=a%2Bb%2F%C3%BC"
        );
    }
}
