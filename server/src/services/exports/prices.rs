//! Prices as an export: an hour and chip type a row, also where there was no price, so that a gap is seen as one.

use std::collections::BTreeMap;

use async_trait::async_trait;
use common::ids::ChipTypeId;
use common::instant::Instant;
use common::money::Price;

use super::source::{Context, HOUR, Hours, Progress, Source};
use super::table::{Batch, Cell, Column, Kind, column};
use crate::error::AppError;
use crate::store::history::{self, PricePiece};
use crate::store::{Tx, budget, exports};

/// Hours read at once.
const HOURS_AT_ONCE: i64 = 24;

pub(super) const COLUMNS: &[Column] = &[
    column("starts_at", Kind::Time, "Start of the hour in UTC."),
    column("starts_at_local", Kind::Text, "The same in the organisation's zone, with its offset."),
    column("time_zone", Kind::Text, "The organisation's zone."),
    column("chip_type", Kind::Text, "The chip type."),
    column(
        "reference_price_credits_per_chip_hour",
        Kind::Micros,
        "Average reference price over the hour, weighted by time, in global credits; empty where there was none.",
    ),
    column("low_credits_per_chip_hour", Kind::Micros, "The lowest price of a cycle in it."),
    column("high_credits_per_chip_hour", Kind::Micros, "The highest."),
    column(
        "covered_seconds",
        Kind::Whole,
        "Seconds of the hour in which the market ran; empty where it did not.",
    ),
    column("priced_seconds", Kind::Whole, "Those of them with a price."),
    column("supply_chip_seconds", Kind::Whole, "Chips there were, times seconds."),
    column("asked_chip_seconds", Kind::Whole, "Chips that were asked for at any price, times seconds."),
    column("paid_chip_seconds", Kind::Whole, "Chips that bids won and used, times seconds."),
    column("opportunistic_chip_seconds", Kind::Whole, "Chips used for free, times seconds."),
];

pub(super) struct Prices {
    context: Context,
    hours: Hours,
    chip_types: Vec<ChipTypeId>,
}

impl Prices {
    pub(super) async fn open(tx: &mut Tx, context: Context) -> Result<Self, AppError> {
        let hours = context.hours(budget::first_cycle_at(tx).await?);
        Ok(Self { context, hours, chip_types: exports::chip_types(tx).await? })
    }

    fn row(
        &self,
        at: Instant,
        chip_type: &ChipTypeId,
        piece: Option<&PricePiece>,
        local: &str,
    ) -> [Cell; 13] {
        let price =
            |price: Option<Price>| Cell::or_absent(price, |price| Cell::Micros(price.0.cast_signed()));
        let chips = |of: fn(&PricePiece) -> u64| Cell::or_absent(piece, |piece| Cell::count(of(piece)));
        [
            Cell::Time(at),
            Cell::text(local),
            Cell::Text(self.context.time_zone.clone()),
            Cell::text(chip_type),
            price(piece.and_then(PricePiece::reference_price)),
            price(piece.and_then(|piece| piece.low)),
            price(piece.and_then(|piece| piece.high)),
            Cell::or_absent(piece, |piece| Cell::Whole(piece.seconds)),
            Cell::or_absent(piece, |piece| Cell::Whole(piece.priced_seconds)),
            chips(|piece| piece.supply_chip_seconds),
            chips(|piece| piece.asked_chip_seconds),
            chips(|piece| piece.paid_chip_seconds),
            chips(|piece| piece.opportunistic_chip_seconds),
        ]
    }
}

#[async_trait]
impl Source for Prices {
    async fn next(&mut self, tx: &mut Tx) -> Result<Option<Batch>, AppError> {
        let Some((from, to)) = self.hours.take(HOURS_AT_ONCE) else { return Ok(None) };
        let step = u32::try_from(HOUR).unwrap_or(u32::MAX);
        let mut pieces = BTreeMap::new();
        for chip_type in &self.chip_types {
            for piece in history::price_steps(tx, chip_type, None, from, to, step).await? {
                pieces.insert((piece.starts_at, chip_type), piece);
            }
        }
        let (mut batch, mut at) = (Batch::default(), from);
        while at < to {
            let local = self.context.calendar.local_text(at)?;
            for chip_type in &self.chip_types {
                batch.push(self.row(at, chip_type, pieces.get(&(at, chip_type)), &local));
            }
            at = at.plus_seconds(HOUR);
        }
        Ok(Some(batch))
    }

    fn expected_rows(&self) -> u64 {
        self.hours.count() * self.chip_types.len() as u64
    }

    fn progress(&self) -> Progress {
        self.hours.progress()
    }
}
