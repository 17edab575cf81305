//! Buttons of a bid's form that change its fields and send nothing: alternatives and quick limits. With scripts the
//! browser does it, without them the server, and shows the form again.

use crate::fields::Fields;

/// Fields that each alternative has.
pub(crate) const ALTERNATIVE: [&str; 3] = ["chip_type", "chips", "min_chips"];

/// The field that a pressed button sends.
pub(crate) const BUTTON: &str = "do";

/// How many alternatives the form has.
pub(crate) fn alternatives(fields: &Fields) -> usize {
    fields.all(ALTERNATIVE[0]).count()
}

/// Does what the pressed button says. False when it says something else: to send the form.
pub(crate) fn alter(fields: &mut Fields, button: &str) -> bool {
    let (what, value) = button.split_once(':').unwrap_or((button, ""));
    let row = value.parse::<usize>().ok();
    match (what, row) {
        // Only asks for the form again, filled with what was typed before.
        ("restore", _) => {}
        ("add", _) => {
            for name in ALTERNATIVE {
                fields.push(name, "");
            }
        }
        ("remove", Some(row)) => rewrite(fields, |rows| {
            if row < rows.len() && rows.len() > 1 {
                rows.remove(row);
            }
        }),
        ("up", Some(row)) => rewrite(fields, |rows| {
            if row > 0 && row < rows.len() {
                rows.swap(row - 1, row);
            }
        }),
        ("limit", _) if value == "none" => {
            fields.set("limit_kind", "none");
            fields.set("limit", "");
        }
        ("limit", _) => {
            fields.set("limit_kind", "at");
            fields.set("limit", value);
        }
        _ => return false,
    }
    true
}

fn rewrite(fields: &mut Fields, change: impl FnOnce(&mut Vec<[String; 3]>)) {
    let mut rows = (0..alternatives(fields))
        .map(|row| ALTERNATIVE.map(|name| fields.nth(name, row).to_owned()))
        .collect();
    change(&mut rows);
    fields.remove(&ALTERNATIVE);
    for row in rows {
        for (name, value) in ALTERNATIVE.into_iter().zip(row) {
            fields.push(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "chip_type=H100&chips=8&min_chips=4&chip_type=H200&chips=6&min_chips=";

    fn after(button: &str) -> String {
        let mut fields = Fields::parse(TWO);
        assert!(alter(&mut fields, button), "{button}");
        fields.encode()
    }

    #[test]
    fn alternatives_are_added_removed_and_ordered() {
        assert_eq!(after("add"), format!("{TWO}&chip_type=&chips=&min_chips="));
        assert_eq!(after("remove:0"), "chip_type=H200&chips=6&min_chips=");
        assert_eq!(after("up:1"), "chip_type=H200&chips=6&min_chips=&chip_type=H100&chips=8&min_chips=4");
        for nothing in ["remove:2", "up:0", "up:7"] {
            assert_eq!(after(nothing), TWO);
        }
        let mut one = Fields::parse("chip_type=H100&chips=8&min_chips=4");
        assert!(alter(&mut one, "remove:0"));
        assert_eq!(alternatives(&one), 1, "a bid keeps one alternative");
    }

    #[test]
    fn t106_no_limit_is_a_choice_of_its_own() {
        let mut fields = Fields::parse("limit=3");
        assert!(alter(&mut fields, "limit:none"));
        assert_eq!(fields.encode(), "limit=&limit_kind=none");
        assert!(alter(&mut fields, "limit:2.0262"));
        assert_eq!(fields.encode(), "limit=2.0262&limit_kind=at");
        assert!(!alter(&mut fields, "place"));
    }
}
