//! Writes batches of rows as a file, a piece at a time: what is held in memory does not grow with the file.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use super::parquet_file::ParquetFile;
use super::table::{Batch, Cell, Column};
use super::{FileFormat, Stated};
use crate::error::AppError;
use crate::spreadsheet::neutral;

/// Bytes that were written and not taken yet. Shared with the writer of the file, which owns its other half.
#[derive(Clone, Debug, Default)]
pub(super) struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    /// Takes what was written so far.
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A file that is being written.
pub(super) enum Encoder {
    Csv(Box<csv::Writer<Written>>, Written),
    Parquet(Box<ParquetFile>),
}

impl Encoder {
    /// Begins a file. A CSV file gets its header at once, so that one without rows has it as well.
    pub(super) fn begin(format: FileFormat, columns: &[Column], stated: &Stated) -> Result<Self, AppError> {
        match format {
            FileFormat::Csv => {
                let written = Written::default();
                let mut builder = csv::WriterBuilder::new();
                builder.terminator(csv::Terminator::CRLF);
                let mut writer = builder.from_writer(written.clone());
                writer.write_record(columns.iter().map(|column| column.name)).map_err(AppError::internal)?;
                Ok(Self::Csv(Box::new(writer), written))
            }
            FileFormat::Parquet => Ok(Self::Parquet(Box::new(ParquetFile::begin(columns, stated)?))),
        }
    }

    /// Adds rows; the answer is what of the file is finished by that.
    pub(super) fn write(&mut self, batch: Batch, columns: &[Column]) -> Result<Vec<u8>, AppError> {
        match self {
            Self::Csv(writer, written) => {
                for row in batch.cells.chunks(columns.len().max(1)) {
                    write_row(writer, row)?;
                }
                writer.flush().map_err(AppError::internal)?;
                Ok(written.take())
            }
            Self::Parquet(file) => file.write(batch),
        }
    }

    /// Ends the file; the answer is the rest of it.
    pub(super) fn finish(self) -> Result<Vec<u8>, AppError> {
        match self {
            Self::Csv(mut writer, written) => {
                writer.flush().map_err(AppError::internal)?;
                Ok(written.take())
            }
            Self::Parquet(file) => file.finish(),
        }
    }
}

fn write_row(writer: &mut csv::Writer<Written>, row: &[Cell]) -> Result<(), AppError> {
    for cell in row {
        match cell {
            Cell::Absent => writer.write_field(""),
            Cell::Text(text) => writer.write_field(&*neutral(text)),
            Cell::Whole(number) => writer.write_field(number.to_string()),
            Cell::Micros(micros) => writer.write_field(decimal(i128::from(*micros), 6)),
            Cell::Picos(picos) => writer.write_field(decimal(*picos, 12)),
            Cell::Time(at) => writer.write_field(at.to_string()),
        }
        .map_err(AppError::internal)?;
    }
    // An empty record ends the line of fields.
    writer.write_record(None::<&[u8]>).map_err(AppError::internal)
}

/// A number of 10^-`decimals` parts in full: zeros at its end are dropped down to two decimals.
fn decimal(parts: i128, decimals: u32) -> String {
    let unit = 10_u128.pow(decimals);
    let (whole, mut fraction) = (parts.unsigned_abs() / unit, parts.unsigned_abs() % unit);
    let mut width = decimals as usize;
    while width > 2 && fraction.is_multiple_of(10) {
        fraction /= 10;
        width -= 1;
    }
    let sign = if parts < 0 { "-" } else { "" };
    format!("{sign}{whole}.{fraction:0width$}")
}

#[cfg(test)]
mod tests {
    use common::money::MicroCredits;

    use super::super::table::{Kind, column};
    use super::*;

    const COLUMNS: [Column; 3] = [
        column("name", Kind::Text, "A name."),
        column("amount_credits", Kind::Micros, "An amount."),
        column("at", Kind::Time, "When."),
    ];

    fn csv(rows: &[(&str, i64)]) -> String {
        let mut encoder = Encoder::begin(FileFormat::Csv, &COLUMNS, &Stated::default()).unwrap();
        let mut bytes = Vec::new();
        for (name, amount) in rows {
            let mut batch = Batch::default();
            batch.push([Cell::text(name), Cell::Micros(*amount), Cell::Absent]);
            bytes.extend(encoder.write(batch, &COLUMNS).unwrap());
        }
        bytes.extend(encoder.finish().unwrap());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn t161_text_like_a_formula_is_neutralised_and_numbers_stay_numbers() {
        assert_eq!(
            csv(&[("=HYPERLINK(\"x\")", -1_500_000), ("+1", 1), ("@SUM(A1)", 0), ("speech", 2_000_000)]),
            "name,amount_credits,at\r\n\"'=HYPERLINK(\"\"x\"\")\",-1.50,\r\n'+1,0.000001,\r\n'@SUM(A1),0.00,\r\nspeech,2.00,\r\n"
        );
    }

    #[test]
    fn t152_a_file_without_rows_has_its_header() {
        assert_eq!(csv(&[]), "name,amount_credits,at\r\n");
    }

    #[test]
    fn decimals_are_exact_and_the_same_as_on_pages() {
        for micros in [0, 1, -1, 10, 1_500_000, -7_370_001, i64::MAX, i64::MIN] {
            assert_eq!(decimal(i128::from(micros), 6), MicroCredits(micros).to_string());
        }
        assert_eq!(decimal(1_234_567_890_123, 12), "1.234567890123");
        assert_eq!(decimal(-500_000_000_000, 12), "-0.50");
    }
}
