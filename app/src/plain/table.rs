//! Tables of plain pages. There is one way to write them, whatever stands in their cells.

use leptos::prelude::*;

/// A column: its name, its unit (empty without one), and whether it holds numbers.
pub(crate) type Column = (&'static str, &'static str, bool);

/// The column of what can be done with a row: nothing is sorted by it.
pub(crate) const DO: Column = ("Do", "", false);

/// What stands in a cell, and the number it is sorted by where that is not its text.
pub(crate) struct Content {
    view: AnyView,
    value: Option<String>,
}

impl Content {
    /// A view that is sorted by a number, or comes last without one.
    pub(crate) fn sorted_by(view: impl IntoAny, value: Option<String>) -> Self {
        Self { view: view.into_any(), value }
    }
}

impl<T: IntoAny> From<T> for Content {
    fn from(view: T) -> Self {
        Self { view: view.into_any(), value: None }
    }
}

/// A table in a region that scrolls where it must.
pub(crate) struct Table<'a> {
    name: String,
    columns: &'a [Column],
    rows: Vec<Vec<Content>>,
    has_caption: bool,
    class: Option<&'static str>,
    is_tall: bool,
    list: Option<String>,
}

impl<'a> Table<'a> {
    /// A table whose rows become cards where there is little room. Its name is said to those who do not see it; the
    /// heading above says it to the others.
    pub(crate) fn new<C: Into<Content>>(
        name: impl Into<String>,
        columns: &'a [Column],
        rows: Vec<Vec<C>>,
    ) -> Self {
        let rows = rows.into_iter().map(|cells| cells.into_iter().map(Into::into).collect()).collect();
        Self {
            name: name.into(),
            columns,
            rows,
            has_caption: false,
            class: Some("cards"),
            is_tall: false,
            list: None,
        }
    }

    /// With its name as caption.
    pub(crate) fn captioned(self) -> Self {
        Self { has_caption: true, ..self }
    }

    /// As a table also where there is little room: on paper, or where its lines belong under each other.
    pub(crate) fn always_in_lines(self) -> Self {
        Self { class: None, ..self }
    }

    /// A long one behind a chart: in lines, in a region that scrolls both ways.
    pub(crate) fn tall(self) -> Self {
        Self { class: None, is_tall: true, ..self }
    }

    /// One that readers may sort and search; `list` is its name in the address.
    pub(crate) fn sortable(self, list: impl Into<String>) -> Self {
        Self { list: Some(list.into()), ..self }
    }

    /// The table, or what is said where it has no row.
    pub(crate) fn view_or(self, empty: &'static str) -> AnyView {
        if self.rows.is_empty() { view! { <p class="empty">{empty}</p> }.into_any() } else { self.view() }
    }

    /// The table.
    pub(crate) fn view(self) -> AnyView {
        let Self { name, columns, rows, has_caption, class, is_tall, list } = self;
        let region = if is_tall { "scroll tall" } else { "scroll" };
        let heads = columns
            .iter()
            .map(|column| {
                let (name, unit, is_number) = column;
                let unsorted = (*column == DO).then_some("");
                view! {
                    <th scope="col" class=is_number.then_some("num") data-unsorted=unsorted>
                        {*name}
                        {(!unit.is_empty()).then(|| view! { <small>{*unit}</small> })}
                    </th>
                }
            })
            .collect_view();
        let rows = rows.into_iter().map(|cells| row(cells, columns)).collect_view();
        let caption = has_caption.then(|| view! { <caption>{name.clone()}</caption> });
        view! {
            <div class=region tabindex="0" role="region" aria-label=name>
                <table class=class data-sortable=list>
                    {caption}
                    <thead>
                        <tr>{heads}</tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        }
        .into_any()
    }
}

fn row(cells: Vec<Content>, columns: &[Column]) -> AnyView {
    let cells = cells
        .into_iter()
        .zip(columns)
        .enumerate()
        .map(|(place, (Content { view, value }, (name, unit, is_number)))| {
            let class = is_number.then_some("num");
            if place == 0 {
                return view! { <th scope="row" class=class data-value=value>{view}</th> }.into_any();
            }
            let unit = (!unit.is_empty()).then_some(*unit);
            view! {
                <td class=class data-label=*name data-unit=unit data-value=value>
                    {view}
                </td>
            }
            .into_any()
        })
        .collect_view();
    view! { <tr>{cells}</tr> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_its_column_and_unit_where_the_headings_are_far() {
        let columns = [("Team", "", false), ("Spent", "local credits", true), ("Chance", "", true), DO];
        let rows = vec![vec![
            Content::from("ads"),
            Content::from("1.25"),
            Content::sorted_by("80 %", Some("0.8".to_owned())),
            Content::from("End it"),
        ]];
        let html = Owner::new_root(None)
            .with(|| Table::new("Teams", &columns, rows).captioned().sortable("teams").view().to_html())
            .replace("<!>", "");
        for part in [
            "aria-label=\"Teams\"",
            "data-sortable=\"teams\"",
            "<caption>Teams</caption>",
            "<td data-label=\"Spent\" data-unit=\"local credits\" class=\"num\">1.25",
            "data-label=\"Chance\" data-value=\"0.8\" class=\"num\">80 %",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("data-unit=\"\""), "{html}");
        assert_eq!(html.matches("data-unsorted").count(), 1, "{html}");
    }
}
