//! A Parquet file, a row group at a time. Columns may be empty everywhere; amounts are DECIMAL, instants TIMESTAMP in
//! UTC, so that no reader has to guess.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::Stated;
use super::encode::Written;
use super::table::{Batch, Cell, Column, Kind};
use crate::error::AppError;

/// Rows in a row group: what is held in memory before it is written.
const ROWS_IN_GROUP: usize = 50_000;

/// Decimal digits that fit 64 bits, and 128 bits.
const DIGITS_OF_64: i32 = 18;
const DIGITS_OF_128: i32 = 38;

/// A Parquet file that is being written.
pub(super) struct ParquetFile {
    writer: SerializedFileWriter<Written>,
    written: Written,
    kinds: Vec<Kind>,
    waiting: Vec<Cell>,
}

impl ParquetFile {
    /// Begins a file; what is `stated` stands in its metadata.
    pub(super) fn begin(columns: &[Column], stated: &Stated) -> Result<Self, AppError> {
        let written = Written::default();
        let metadata = stated.pairs().into_iter().map(|(name, value)| KeyValue::new(name.to_owned(), value));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by("quota-marketplace".to_owned())
            .set_key_value_metadata(Some(metadata.collect()));
        let writer =
            SerializedFileWriter::new(written.clone(), schema(columns)?, Arc::new(properties.build()))
                .map_err(AppError::internal)?;
        let kinds = columns.iter().map(|column| column.kind).collect();
        Ok(Self { writer, written, kinds, waiting: Vec::new() })
    }

    /// Adds rows; the answer is what of the file is finished by that.
    pub(super) fn write(&mut self, batch: Batch) -> Result<Vec<u8>, AppError> {
        self.waiting.extend(batch.cells);
        if self.waiting.len() >= ROWS_IN_GROUP * self.kinds.len() {
            self.write_group()?;
        }
        Ok(self.written.take())
    }

    /// Ends the file; the answer is the rest of it.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, AppError> {
        if !self.waiting.is_empty() {
            self.write_group()?;
        }
        self.writer.close().map_err(AppError::internal)?;
        Ok(self.written.take())
    }

    fn write_group(&mut self) -> Result<(), AppError> {
        let cells = std::mem::take(&mut self.waiting);
        let mut group = self.writer.next_row_group().map_err(AppError::internal)?;
        for (place, kind) in self.kinds.iter().enumerate() {
            let Some(mut column) = group.next_column().map_err(AppError::internal)? else {
                return Err(AppError::internal("a file has fewer columns than its export"));
            };
            let cells = cells.iter().skip(place).step_by(self.kinds.len());
            write_column(&mut column, *kind, cells).map_err(AppError::internal)?;
            column.close().map_err(AppError::internal)?;
        }
        group.close().map_err(AppError::internal)?;
        Ok(())
    }
}

/// Writes the cells of one column: the values that are there, and for each row whether there is one.
fn write_column<'a>(
    column: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    cells: impl Iterator<Item = &'a Cell> + Clone,
) -> Result<usize, parquet::errors::ParquetError> {
    let levels: Vec<i16> = cells.clone().map(|cell| i16::from(*cell != Cell::Absent)).collect();
    match kind {
        Kind::Text => {
            let texts = cells.filter_map(|cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            });
            column.typed::<ByteArrayType>().write_batch(&texts.collect::<Vec<_>>(), Some(&levels), None)
        }
        Kind::Picos => {
            let parts = cells.filter_map(|cell| match cell {
                Cell::Picos(picos) => Some(FixedLenByteArray::from(picos.to_be_bytes().to_vec())),
                _ => None,
            });
            column.typed::<FixedLenByteArrayType>().write_batch(
                &parts.collect::<Vec<_>>(),
                Some(&levels),
                None,
            )
        }
        Kind::Whole | Kind::Micros | Kind::Time => {
            let numbers = cells.filter_map(|cell| match cell {
                Cell::Whole(number) | Cell::Micros(number) => Some(*number),
                Cell::Time(at) => Some(at.0),
                _ => None,
            });
            column.typed::<Int64Type>().write_batch(&numbers.collect::<Vec<_>>(), Some(&levels), None)
        }
    }
}

fn schema(columns: &[Column]) -> Result<TypePtr, AppError> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>, _>>().map_err(AppError::internal)?;
    let root = Type::group_type_builder("export").with_fields(fields).build();
    Ok(Arc::new(root.map_err(AppError::internal)?))
}

fn field(column: &Column) -> Result<Type, parquet::errors::ParquetError> {
    let physical = match column.kind {
        Kind::Text => Physical::BYTE_ARRAY,
        Kind::Picos => Physical::FIXED_LEN_BYTE_ARRAY,
        Kind::Whole | Kind::Micros | Kind::Time => Physical::INT64,
    };
    let builder = Type::primitive_type_builder(column.name, physical).with_repetition(Repetition::OPTIONAL);
    match column.kind {
        Kind::Text => builder.with_logical_type(Some(LogicalType::String)),
        Kind::Whole => builder.with_logical_type(Some(LogicalType::integer(64, true))),
        Kind::Time => builder.with_logical_type(Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        Kind::Micros => builder
            .with_logical_type(Some(LogicalType::decimal(6, DIGITS_OF_64)))
            .with_precision(DIGITS_OF_64)
            .with_scale(6),
        Kind::Picos => builder
            .with_logical_type(Some(LogicalType::decimal(12, DIGITS_OF_128)))
            .with_precision(DIGITS_OF_128)
            .with_scale(12)
            .with_length(16),
    }
    .build()
}
