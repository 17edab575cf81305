//! Moore and Hodgson's rule: which jobs to give up so that as many as possible end in time.

/// A job with a demand that is taken for known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Work left; infinite when the job can't be done.
    pub work: f64,
    /// Work that fits before its deadline when all nodes do nothing else.
    pub until: f64,
    /// The most work that the job itself can take before its deadline.
    pub most: f64,
}

/// The jobs to keep, as places in `demands`, the earliest deadline first.
///
/// Jobs are taken in the order of their deadlines; whenever the work taken no longer fits before the newest one's
/// deadline, the largest is given up. With one job after the other on one machine that is the most jobs possible;
/// with several nodes, and jobs that can't use all of them, it is a good rule.
#[must_use]
pub fn moore_hodgson(demands: &[Demand]) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..demands.len()).filter(|at| demands[*at].work <= demands[*at].most).collect();
    order.sort_by(|a, b| demands[*a].until.total_cmp(&demands[*b].until));
    let mut kept: Vec<usize> = Vec::new();
    let mut work = 0.0;
    for at in order {
        kept.push(at);
        work += demands[at].work;
        if work > demands[at].until {
            let largest =
                (0..kept.len()).max_by(|a, b| demands[kept[*a]].work.total_cmp(&demands[kept[*b]].work));
            if let Some(largest) = largest {
                work -= demands[kept.remove(largest)].work;
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The most jobs that end in time on one machine, by trying every set.
    fn most(demands: &[Demand]) -> usize {
        let mut order: Vec<&Demand> = demands.iter().collect();
        order.sort_by(|a, b| a.until.total_cmp(&b.until));
        let in_time = |set: u32| {
            let mut work = 0.0;
            order.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).all(|(_, demand)| {
                work += demand.work;
                work <= demand.until
            })
        };
        (0..1u32 << order.len()).filter(|set| in_time(*set)).map(u32::count_ones).max().unwrap_or(0) as usize
    }

    proptest! {
        #[test]
        fn as_many_jobs_as_any_set_of_them(jobs in prop::collection::vec((1u8..20, 1u8..40), 0..10)) {
            let demands: Vec<Demand> = jobs
                .iter()
                .map(|(work, until)| (f64::from(*work), f64::from(*until)))
                .map(|(work, until)| Demand { work, until, most: until })
                .collect();
            let kept = moore_hodgson(&demands);
            let mut work = 0.0;
            for at in &kept {
                work += demands[*at].work;
                prop_assert!(work <= demands[*at].until, "{kept:?} does not fit");
            }
            prop_assert_eq!(kept.len(), most(&demands));
        }
    }

    #[test]
    fn what_a_job_cannot_take_is_never_kept() {
        let demand = |work, most| Demand { work, until: 100.0, most };
        assert_eq!(
            moore_hodgson(&[demand(30.0, 20.0), demand(f64::INFINITY, 50.0), demand(20.0, 20.0)]),
            [2]
        );
    }
}
