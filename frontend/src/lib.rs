//! Hydrates `app` in the browser.
