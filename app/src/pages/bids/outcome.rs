//! What became of a form, where it stood.

use leptos::prelude::*;

use super::reply::{Refused, Reply};

/// The notice of a reply; nothing where it is no news: a question, or a preview.
pub(super) fn outcome(reply: Option<&Reply>) -> AnyView {
    let refused = match reply {
        Some(Reply::Refused(refused)) => Some(refused_notice(refused)),
        Some(Reply::Done(_) | Reply::Looked(_) | Reply::Asked(_)) | None => None,
    };
    // The script of the pages writes here what it has to say itself.
    view! { <div data-notice role="status">{refused}</div> }.into_any()
}

fn refused_notice(refused: &Refused) -> AnyView {
    let changes = refused.conflict.as_ref().map(|conflict| {
        let rows = conflict
            .changes
            .iter()
            .map(|change| {
                view! {
                    <tr>
                        <th scope="row">{change.label.clone()}</th>
                        <td>{change.before.clone()}</td>
                        <td>{change.now.clone()}</td>
                    </tr>
                }
            })
            .collect_view();
        view! {
            <table>
                <caption class="hidden">"What is other now"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Term"</th>
                        <th scope="col">"When you opened the form"</th>
                        <th scope="col">"Now"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
    });
    view! {
        <div class="outcome refused" role="alert">
            <p class="strong">{refused.title.clone()}</p>
            <p>{refused.detail.clone()}</p>
            {changes}
        </div>
    }
    .into_any()
}
