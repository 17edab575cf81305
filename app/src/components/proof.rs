//! The proof of a cycle: hashes as stored and as found when the cycle is computed again.

use common::api::CycleProof;
use leptos::prelude::*;

/// Both hashes, and whether they match.
pub(crate) fn proof_panel(cycle: u64, proof: &CycleProof) -> impl IntoView + use<> {
    let verdict = if proof.snapshot_matches && proof.outcome_matches {
        view! { <p>"The inputs were rebuilt from history and cleared again: the result is what was stored at the time."</p> }
            .into_any()
    } else {
        view! {
            <p class="bad">
                "What is stored does not match what is computed from it. Someone should look: run "
                <code>{format!("quota-marketplace verify --from {cycle} --to {cycle}")}</code>
            </p>
        }
        .into_any()
    };
    view! {
        <section class="panel" aria-labelledby="proof-title">
            <header>
                <h2 id="proof-title">"Proof"</h2>
                {mark(proof.snapshot_matches, "inputs match", "inputs do not match")}
                {mark(proof.outcome_matches, "outcome matches", "outcome does not match")}
            </header>
            <div class="body">
                {verdict}
                <dl class="hashes">
                    <dt>"SHA-256 of the inputs"</dt>
                    <dd><code>{proof.snapshot_sha256.clone()}</code></dd>
                    <dt>"SHA-256 of the outcome"</dt>
                    <dd><code>{proof.outcome_sha256.clone()}</code></dd>
                </dl>
            </div>
        </section>
    }
}

fn mark(matches: bool, yes: &'static str, no: &'static str) -> impl IntoView {
    let (class, text) = if matches { ("tag ok", yes) } else { ("tag bad", no) };
    view! { <span class=class>{if matches { "✓ " } else { "✗ " }}{text}</span> }
}
