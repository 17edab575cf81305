//! The forms of a log that is a text.

use serde_json::{Map, Value};

use super::{Faults, Point};

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Step,
    Loss,
    ChipHours,
    ChipSeconds,
    Other,
}

/// The column of a name, whatever its case and marks: `Chip hours`, `chip_hours` and `chip-hours` are one.
fn column(name: &str) -> Column {
    let letters: String = name.chars().filter(|letter| letter.is_alphanumeric()).collect();
    match letters.to_lowercase().as_str() {
        "step" | "steps" | "iteration" | "iter" | "globalstep" | "trainstep" => Column::Step,
        "loss" | "value" | "trainloss" | "trainingloss" => Column::Loss,
        "chiphours" | "gpuhours" | "tpuhours" => Column::ChipHours,
        "chipseconds" | "gpuseconds" | "tpuseconds" => Column::ChipSeconds,
        _ => Column::Other,
    }
}

/// The points of a text.
pub(super) fn points(log: &str) -> Result<Vec<Point>, String> {
    let log = log.trim_start_matches('\u{feff}');
    match log.trim_start().chars().next() {
        None => Err("is empty; choose a file, or paste the losses so far".to_owned()),
        Some('{') => json_lines(log),
        Some('[') => json_list(log),
        Some(_) => delimited(log),
    }
}

/// One object per line.
fn json_lines(log: &str) -> Result<Vec<Point>, String> {
    let (mut points, mut faults) = (Vec::new(), Faults::default());
    for (nth, line) in log.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let read = serde_json::from_str(line).map_err(|error| no_json(line, &error));
        match read.and_then(|object| of_object(nth + 1, &object)) {
            Ok(point) => points.push(point),
            Err(what) => faults.add("line", nth + 1, what),
        }
    }
    faults.finish().map(|()| points)
}

/// A list of objects.
fn json_list(log: &str) -> Result<Vec<Point>, String> {
    let objects: Vec<Map<String, Value>> = serde_json::from_str(log).map_err(|error| no_json(log, &error))?;
    let (mut points, mut faults) = (Vec::new(), Faults::default());
    for (nth, object) in objects.iter().enumerate() {
        match of_object(nth + 1, object) {
            Ok(point) => points.push(point),
            Err(what) => faults.add("item", nth + 1, what),
        }
    }
    faults.finish().map(|()| points)
}

fn no_json(text: &str, error: &serde_json::Error) -> String {
    if text.contains("NaN") || text.contains("Infinity") {
        return "has NaN or Infinity; leave out steps whose loss is no number".to_owned();
    }
    format!("is no JSON: {error}")
}

fn of_object(at: usize, object: &Map<String, Value>) -> Result<Point, String> {
    let cells = object.iter().map(|(name, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (column(name), text)
    });
    of_cells(at, cells.collect::<Vec<_>>().iter().map(|(column, text)| (*column, text.as_str())))
}

/// CSV, or columns between tabs, semicolons or spaces; with a header, or bare.
fn delimited(log: &str) -> Result<Vec<Point>, String> {
    let mut lines = log.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let first = lines.peek().map(|(_, line)| *line).unwrap_or_default();
    let mark = ['\t', ';', ','].into_iter().find(|mark| first.contains(*mark));
    let cells = |line: &str| -> Vec<String> {
        let bare = |cell: &str| cell.trim().trim_matches('"').to_owned();
        match mark {
            Some(mark) => line.split(mark).map(bare).collect(),
            None => line.split_whitespace().map(bare).collect(),
        }
    };
    let columns = header(&cells(first))?;
    if !is_bare(&cells(first)) {
        lines.next();
    }
    let (mut points, mut faults) = (Vec::new(), Faults::default());
    for (nth, line) in lines {
        let cells = cells(line);
        let point = if cells.len() == columns.len() {
            of_cells(nth + 1, columns.iter().copied().zip(cells.iter().map(String::as_str)))
        } else {
            Err(format!("has {} columns and not {}", cells.len(), columns.len()))
        };
        match point {
            Ok(point) => points.push(point),
            Err(what) => faults.add("line", nth + 1, what),
        }
    }
    faults.finish()?;
    if points.is_empty() {
        return Err("has a header and nothing under it".to_owned());
    }
    Ok(points)
}

/// Whether a line is numbers and no header.
fn is_bare(cells: &[String]) -> bool {
    cells.iter().all(|cell| cell.parse::<f64>().is_ok())
}

/// What the columns are: by the header, or by their order where there is none.
fn header(cells: &[String]) -> Result<Vec<Column>, String> {
    const ORDER: [Column; 3] = [Column::Step, Column::Loss, Column::ChipHours];
    if is_bare(cells) {
        return match cells.len() {
            2 | 3 => Ok(ORDER[..cells.len()].to_vec()),
            count => {
                Err(format!("line 1: has {count} columns and no header; begin with step,loss,chip_hours"))
            }
        };
    }
    let columns: Vec<Column> = cells.iter().map(|cell| column(cell)).collect();
    for (wanted, name) in [(Column::Step, "step"), (Column::Loss, "loss")] {
        match columns.iter().filter(|column| **column == wanted).count() {
            0 => {
                return Err(format!(
                    "line 1: there is no column {name} in {:?}; begin with step,loss,chip_hours or with TensorBoard's \
                     Wall time,Step,Value",
                    cells.join(",")
                ));
            }
            1 => {}
            _ => return Err(format!("line 1: there is more than one column {name}")),
        }
    }
    Ok(columns)
}

fn of_cells<'a>(at: usize, cells: impl Iterator<Item = (Column, &'a str)>) -> Result<Point, String> {
    let (mut step, mut loss, mut chip_hours) = (None, None, None);
    for (column, text) in cells {
        match column {
            Column::Step => step = Some(number("step", text)?),
            Column::Loss => loss = Some(number("loss", text)?),
            Column::ChipHours => chip_hours = Some(number("number of chip-hours", text)?),
            Column::ChipSeconds => chip_hours = Some(number("number of chip-seconds", text)? / 3_600.0),
            Column::Other => {}
        }
    }
    Ok(Point { at, step: step.ok_or("has no step")?, loss: loss.ok_or("has no loss")?, chip_hours })
}

fn number(name: &str, text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| {
        let hint = if text.contains(',') { "; write decimals with a point" } else { "" };
        format!("the {name} {text:?} is no number{hint}")
    })
}
