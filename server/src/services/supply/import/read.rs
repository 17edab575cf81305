//! The forms of an inventory file. Read strictly: a wrong line would silently become wrong supply.
//!
//! A GPU is counted with its node, once: a list of pods is refused, a node that stands in the file twice as well, and of
//! Slurm's resources a plain `gres/gpu` only counts where none with a type stands beside it.

use std::collections::BTreeMap;

use common::api::{InventoryFault, InventoryForm};
use common::chips::{Chips, MAX_CHIPS};
use common::ids::{ChipTypeId, PoolId};

use crate::store::supply::Hand;

/// Rows of a file at most.
const MOST_ROWS: usize = 200_000;

/// The model of GPUs of which a node only says how many.
const UNNAMED: &str = "gpu";

/// A file as it was read.
#[derive(Debug)]
pub(super) struct File {
    pub(super) form: Option<InventoryForm>,
    pub(super) rows: u64,
    pub(super) content: Content,
    pub(super) faults: Vec<InventoryFault>,
}

/// What a file says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Chips of each hand, with the line that says so.
    Hands(BTreeMap<Hand, (Option<u64>, Chips)>),
    /// Nodes and chips of each model.
    Models(BTreeMap<String, (u64, Chips)>),
}

/// Reads a file. What is wrong is noted with its line, and the rest is read all the same, so that all faults are found
/// at once.
pub(super) fn file(text: &str) -> File {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header: Vec<String> =
        reader.headers().map(|header| header.iter().map(str::to_lowercase).collect()).unwrap_or_default();
    let column = |name: &str| header.iter().position(|column| column == name);
    let mut rows = Rows { faults: Vec::new(), width: header.len() };
    let (form, content) = if let (Some(chip_type), Some(chips)) = (column("chip_type"), column("chips")) {
        (Some(InventoryForm::Chips), rows.hands(&mut reader, (chip_type, column("pool"), chips)))
    } else if let Some(what) = [("pod_phase", "pods"), ("jobid", "jobs"), ("alloctres", "jobs")]
        .into_iter()
        .find_map(|(name, what)| column(name).map(|_| what))
    {
        let detail = format!(
            "is of a list of {what}; their GPUs are counted with the nodes, so import the list of nodes"
        );
        rows.fault(Some(1), detail);
        (None, Content::Models(BTreeMap::new()))
    } else if let (Some(node), Some(gpu), Some(model)) = (column("sn"), column("gpu"), column("model")) {
        (Some(InventoryForm::Nodes), rows.nodes(&mut reader, node, |row| with_model(row, gpu, model)))
    } else if let (Some(node), Some(tres)) =
        (column("node").or(column("nodename")), column("tres").or(column("cfgtres")))
    {
        (
            Some(InventoryForm::Tres),
            rows.nodes(&mut reader, node, |row| of_tres(row.get(tres).unwrap_or_default())),
        )
    } else {
        let detail = "has a header that is none of the known forms: chip_type,pool,chips or sn,…,gpu,model or node,tres";
        rows.fault(Some(1), detail);
        (None, Content::Models(BTreeMap::new()))
    };
    let read = reader.position().record().saturating_sub(1);
    File { form, rows: read, content, faults: rows.faults }
}

/// The faults of a file so far.
struct Rows {
    faults: Vec<InventoryFault>,
    width: usize,
}

type Reader<'a> = csv::Reader<&'a [u8]>;

impl Rows {
    fn fault(&mut self, line: Option<u64>, detail: impl Into<String>) {
        self.faults.push(InventoryFault { line, detail: detail.into() });
    }

    /// Calls `take` with each row and its line; notes its refusal.
    fn each(
        &mut self,
        reader: &mut Reader<'_>,
        mut take: impl FnMut(&csv::StringRecord, u64) -> Result<(), String>,
    ) {
        let mut row = csv::StringRecord::new();
        let mut count = 0;
        loop {
            let line = reader.position().line();
            match reader.read_record(&mut row) {
                Ok(false) => return,
                Ok(true) => {}
                Err(error) => {
                    self.fault(Some(line), format!("can't be read: {error}"));
                    return;
                }
            }
            let line = row.position().map_or(line, csv::Position::line);
            count += 1;
            if count > MOST_ROWS {
                self.fault(Some(line), format!("is one too many; a file may have {MOST_ROWS} rows"));
                return;
            }
            if row.len() != self.width {
                self.fault(Some(line), format!("has {} cells; the header has {}", row.len(), self.width));
            } else if let Err(detail) = take(&row, line) {
                self.fault(Some(line), detail);
            }
        }
    }

    /// Reads `chip_type,pool,chips`.
    fn hands(
        &mut self,
        reader: &mut Reader<'_>,
        (chip_type, pool, chips): (usize, Option<usize>, usize),
    ) -> Content {
        let mut hands: BTreeMap<Hand, (Option<u64>, Chips)> = BTreeMap::new();
        self.each(reader, |row, line| {
            let cell = |column: usize| row.get(column).unwrap_or_default();
            let id = cell(chip_type);
            let id: ChipTypeId = id.parse().map_err(|error| format!("chip_type is {id:?}, which {error}"))?;
            let pool = match pool.map(cell).unwrap_or_default() {
                "" | "shared" => None,
                text => {
                    let pool: Result<PoolId, _> = text.parse();
                    Some(pool.map_err(|error| format!("pool is {text:?}, which {error}"))?)
                }
            };
            let chips = whole("chips", cell(chips))?;
            let whose = pool.as_ref().map_or("shared".to_owned(), |pool| format!("of {pool}"));
            match hands.entry((id.clone(), pool)) {
                std::collections::btree_map::Entry::Occupied(first) => {
                    let first = first.get().0.unwrap_or_default();
                    Err(format!("{id} {whose} stands in line {first} already"))
                }
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert((Some(line), chips));
                    Ok(())
                }
            }
        });
        Content::Hands(hands)
    }

    /// Reads a list of nodes; `gpus` gives the models of one and how many it has of each.
    fn nodes(
        &mut self,
        reader: &mut Reader<'_>,
        node: usize,
        gpus: impl Fn(&csv::StringRecord) -> Result<Vec<(String, Chips)>, String>,
    ) -> Content {
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let mut models: BTreeMap<String, (u64, Chips)> = BTreeMap::new();
        self.each(reader, |row, line| {
            let name = row.get(node).unwrap_or_default();
            if name.is_empty() {
                return Err("has no name of a node".to_owned());
            }
            if let Some(first) = seen.insert(name.to_owned(), line) {
                return Err(format!("node {name} stands in line {first} already"));
            }
            for (model, chips) in gpus(row)?.into_iter().filter(|(_, chips)| chips.0 > 0) {
                let sum = models.entry(model).or_default();
                sum.0 += 1;
                sum.1.0 += chips.0;
            }
            Ok(())
        });
        Content::Models(models)
    }
}

/// A whole number of chips.
fn whole(name: &str, text: &str) -> Result<Chips, String> {
    let number = text.parse::<u64>().ok().filter(|number| *number <= MAX_CHIPS);
    number
        .map(Chips)
        .ok_or_else(|| format!("{name} is {text:?}; it must be a whole number from 0 to {MAX_CHIPS}"))
}

/// The GPUs of a node that says how many it has and of which model.
fn with_model(row: &csv::StringRecord, gpu: usize, model: usize) -> Result<Vec<(String, Chips)>, String> {
    let (chips, model) =
        (whole("gpu", row.get(gpu).unwrap_or_default())?, row.get(model).unwrap_or_default());
    if chips.0 > 0 && model.is_empty() {
        return Err(format!("has {chips} GPUs and no model"));
    }
    Ok(vec![(model.to_owned(), chips)])
}

/// The GPUs among Slurm's trackable resources, such as `cpu=64,gres/gpu=4,gres/gpu:h100=4`.
fn of_tres(text: &str) -> Result<Vec<(String, Chips)>, String> {
    let (mut plain, mut typed) = (None, Vec::new());
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (name, count) =
            part.split_once('=').ok_or_else(|| format!("tres has {part:?} without a number"))?;
        match name.strip_prefix("gres/gpu") {
            Some("") => plain = Some(whole("gres/gpu", count)?),
            Some(model) if model.starts_with(':') => {
                typed.push((model.trim_start_matches(':').to_owned(), whole(name, count)?));
            }
            _ => {}
        }
    }
    let sum: u64 = typed.iter().map(|(_, chips)| chips.0).sum();
    match plain {
        Some(plain) if typed.is_empty() => Ok(vec![(UNNAMED.to_owned(), plain)]),
        Some(plain) if plain.0 != sum => {
            Err(format!("tres has gres/gpu={plain}, but the types beside it make {sum}"))
        }
        _ => Ok(typed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(text: &str) -> Vec<(String, u64, u64)> {
        let File { content, faults, .. } = file(text);
        assert_eq!(faults, [], "{text}");
        let Content::Models(models) = content else { panic!("a list of nodes") };
        models.into_iter().map(|(model, (nodes, chips))| (model, nodes, chips.0)).collect()
    }

    fn faults(text: &str) -> Vec<(Option<u64>, String)> {
        file(text).faults.into_iter().map(|fault| (fault.line, fault.detail)).collect()
    }

    #[test]
    fn t157_t160_what_jobs_and_pods_use_is_no_supply() {
        for text in [
            "JobID,State,AllocTRES\n1,RUNNING,\"gres/gpu=8\"\n",
            "name,num_gpu,gpu_spec,pod_phase\np,1,,Succeeded\n",
        ] {
            let File { form, content, faults, .. } = file(text);
            assert_eq!((form, content), (None, Content::Models(BTreeMap::new())), "{text}");
            assert!(faults[0].detail.contains("import the list of nodes"), "{faults:?}");
        }
        assert_eq!(models("NodeName,CfgTRES\na,gres/gpu:h100=8\n"), [("h100".to_owned(), 1, 8)]);
    }

    #[test]
    fn t148_t158_a_gpu_is_counted_once_with_its_node() {
        let text = "node,tres\na,\"cpu=64,mem=500G,gres/gpu=4,gres/gpu:h100=4\"\nb,gres/gpu:mi300x=8\nc,cpu=8\nd,gres/gpu=2\n";
        let expected = [("gpu", 1, 2), ("h100", 1, 4), ("mi300x", 1, 8)];
        assert_eq!(models(text), expected.map(|(model, nodes, chips)| (model.to_owned(), nodes, chips)));
        let twice = faults("sn,cpu_milli,memory_mib,gpu,model\nn1,1,1,8,G2\nn1,1,1,8,G2\n");
        assert_eq!(twice, [(Some(3), "node n1 stands in line 2 already".to_owned())]);
        let pods = faults("name,num_gpu,gpu_spec,pod_phase\np,1,,Running\n");
        assert!(pods[0].1.contains("counted with the nodes"), "{pods:?}");
        assert!(faults("node,tres\na,\"gres/gpu=4,gres/gpu:h100=3\"\n")[0].1.contains("make 3"));
    }

    #[test]
    fn a_node_list_sums_gpus_by_model_and_leaves_nodes_without_any_out() {
        let text =
            "sn,cpu_milli,memory_mib,gpu,model\nn1,1,1,8,G2\nn2,1,1,0,\nn3,1,1,4,V100M16\nn4,1,1,8,G2\n";
        assert_eq!(models(text), [("G2".to_owned(), 2, 16), ("V100M16".to_owned(), 1, 4)]);
    }

    #[test]
    fn all_faults_of_a_file_are_found_with_their_lines() {
        let text = "chip_type,pool,chips\nA100,,40\nA100,shared,41\nA100,p,-1\nA100,q,1.5\nA100,r\n,s,1\nA100,t,4294967296\n";
        let lines: Vec<Option<u64>> = faults(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [3, 4, 5, 6, 7, 8].map(Some));
        for text in ["", "a,b\n1,2\n", "\u{0}\n"] {
            assert_eq!(faults(text)[0].0, Some(1), "{text:?}");
        }
        assert_eq!(faults("\u{feff}chip_type,chips\r\nA100,40\r\n"), []);
    }
}
