//! Icons, drawn on a 16-unit grid with one stroke.

use leptos::prelude::*;

/// What an icon shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "ssr"),
    expect(dead_code, reason = "some stand on pages that only the server renders")
)]
pub(crate) enum Icon {
    Market,
    Book,
    Allocations,
    Cycles,
    Light,
    Dark,
    Auto,
    Keyboard,
    Download,
    Next,
    Previous,
    Budget,
    Finance,
    Organisation,
    Supply,
    Lab,
    Planner,
    Person,
    Leave,
    Bids,
    Edit,
    Copy,
    Pause,
    Resume,
    End,
    Grip,
    Up,
}

impl Icon {
    const fn path(self) -> &'static str {
        match self {
            Self::Market => "M2 12l4-5 3 3 5-6M10 4h4v4",
            Self::Book => "M2 3v11h12M4 4h3v3h3v3h4",
            Self::Allocations => "M2 13V9l4-3 4 2 4-4v9zM2 13h12",
            Self::Cycles => "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
            Self::Light => {
                "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 1v1M8 14v1M1 8h1M14 8h1M3 3l.7.7M12.3 12.3l.7.7M13 3l-.7.7M3.7 12.3L3 13"
            }
            Self::Dark => "M13 10A6 6 0 0 1 6 3a5.5 5.5 0 1 0 7 7z",
            Self::Auto => "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 2v12M8 5h4M8 8h6M8 11h4",
            Self::Keyboard => "M1 4h14v8H1zM4 7h0M7 7h0M10 7h0M12 7h0M5 9.5h6",
            Self::Download => "M8 2v8M5 7l3 3 3-3M3 13h10",
            Self::Next => "M6 3l5 5-5 5",
            Self::Previous => "M10 3L5 8l5 5",
            Self::Budget => "M2 4h12v9H2zM2 7h12M10 10h2",
            Self::Finance => "M2 14h12M4 14V9M8 14V3M12 14V6",
            Self::Organisation => "M6 2h4v4H6zM2 10h4v4H2zM10 10h4v4h-4zM8 6v2M4 10V8h8v2",
            Self::Supply => "M5 5h6v6H5zM6.5 2v3M9.5 2v3M6.5 11v3M9.5 11v3M2 6.5h3M2 9.5h3M11 6.5h3M11 9.5h3",
            Self::Lab => "M6 2h4M7 2v4L3 13h10L9 6V2M5 10h6",
            Self::Planner => "M2 2v12h12M3 4c1 6 4 7 7 7.5M10 11.5h4M11 8l3 3.5",
            Self::Person => "M8 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM2 14c0-3 2.5-4.5 6-4.5s6 1.5 6 4.5",
            Self::Leave => "M6 2H2v12h4M7 8h7M11 5l3 3-3 3",
            Self::Bids => "M2 4h1M2 8h1M2 12h1M6 4h8M6 8h8M6 12h5",
            Self::Edit => "M3 13l.7-3L11 2.7l2.3 2.3L6 12.3zM9.5 4.2l2.3 2.3",
            Self::Copy => "M6 6h7v7H6zM10 6V3H3v7h3",
            Self::Pause => "M5.5 3.5v9M10.5 3.5v9",
            Self::Resume => "M5 3l8 5-8 5z",
            Self::End => "M4 4l8 8M12 4l-8 8",
            Self::Grip => "M6 4h0M10 4h0M6 8h0M10 8h0M6 12h0M10 12h0",
            Self::Up => "M8 13V3M4 7l4-4 4 4",
        }
    }
}

/// An icon without meaning of its own: the text beside it says what it stands for.
pub(crate) fn icon(icon: Icon) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d=icon.path() />
        </svg>
    }
}
