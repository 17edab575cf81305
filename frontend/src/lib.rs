//! Hydrates `app` in the browser.

use wasm_bindgen::prelude::wasm_bindgen;

/// Takes over the page that the server rendered.
#[wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_body(app::App);
}
