//! Linear programs: one form, two solvers that check each other.
//!
//! The simplex method (`microlp`) answers with a vertex, exact to rounding; the interior-point method (`clarabel`) is
//! the one for large sparse programs, and it gives duals.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};
use microlp::{ComparisonOp, OptimizationDirection, Problem};

/// Maximise `objective · x` where `0 ≤ x ≤ upper` and every row holds.
#[derive(Clone, Debug, Default)]
pub struct Program {
    objective: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    rows: Vec<Row>,
}

/// `Σ factor · x ≤ most`.
#[derive(Clone, Debug)]
struct Row {
    terms: Vec<(usize, f64)>,
    most: f64,
}

/// An optimal point.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// `objective · x`.
    pub value: f64,
    /// The point.
    pub x: Vec<f64>,
    /// What one more unit of each row's bound is worth, in the order of the rows; only from [`Program::interior`].
    pub duals: Vec<f64>,
}

impl Program {
    /// Adds a variable and answers its number. `upper` may be infinite.
    pub fn variable(&mut self, gain: f64, lower: f64, upper: f64) -> usize {
        self.objective.push(gain);
        self.lower.push(lower);
        self.upper.push(upper);
        self.objective.len() - 1
    }

    /// Adds the row `Σ factor · x ≤ most` and answers its number.
    pub fn at_most(&mut self, terms: Vec<(usize, f64)>, most: f64) -> usize {
        self.rows.push(Row { terms, most });
        self.rows.len() - 1
    }

    /// Solves by the simplex method.
    ///
    /// # Errors
    /// What the solver said: there is no solution, or it gave up.
    pub fn simplex(&self) -> Result<Optimum, String> {
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let bounds = self.lower.iter().zip(&self.upper);
        let variables: Vec<_> = self
            .objective
            .iter()
            .zip(bounds)
            .map(|(gain, (lower, upper))| problem.add_var(*gain, (*lower, *upper)))
            .collect();
        for row in &self.rows {
            let terms: Vec<_> = row.terms.iter().map(|(at, factor)| (variables[*at], *factor)).collect();
            problem.add_constraint(terms.as_slice(), ComparisonOp::Le, row.most);
        }
        let solved = problem.solve().map_err(|error| error.to_string())?;
        let solution = solved.into_solution().map_err(|_| "the simplex method gave up".to_owned())?;
        let x: Vec<f64> = variables.iter().map(|variable| solution.var_value(*variable)).collect();
        Ok(Optimum { value: self.value_at(&x), x, duals: Vec::new() })
    }

    /// Solves by an interior-point method.
    ///
    /// # Errors
    /// The solver's status where that is not "solved".
    pub fn interior(&self) -> Result<Optimum, String> {
        let variables = self.objective.len();
        // Bounds are rows as well: x ≤ upper and −x ≤ −lower.
        let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); variables];
        let mut bounds: Vec<f64> = Vec::with_capacity(self.rows.len() + 2 * variables);
        for row in &self.rows {
            for (at, factor) in &row.terms {
                columns[*at].push((bounds.len(), *factor));
            }
            bounds.push(row.most);
        }
        for (at, column) in columns.iter_mut().enumerate() {
            if self.upper[at].is_finite() {
                column.push((bounds.len(), 1.0));
                bounds.push(self.upper[at]);
            }
            column.push((bounds.len(), -1.0));
            bounds.push(-self.lower[at]);
        }
        let (mut starts, mut places, mut factors) = (vec![0], Vec::new(), Vec::new());
        for column in columns {
            for (row, factor) in merged(column) {
                places.push(row);
                factors.push(factor);
            }
            starts.push(places.len());
        }
        let matrix = CscMatrix::new(bounds.len(), variables, starts, places, factors);
        let quadratic = CscMatrix::<f64>::zeros((variables, variables));
        let costs: Vec<f64> = self.objective.iter().map(|gain| -gain).collect();
        let cones = [NonnegativeConeT(bounds.len())];
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let mut solver = DefaultSolver::new(&quadratic, &costs, &matrix, &bounds, &cones, settings)
            .map_err(|error| error.to_string())?;
        solver.solve();
        let solution = solver.solution;
        if !matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
            return Err(format!("the interior-point method ended with {:?}", solution.status));
        }
        let x = solution.x;
        Ok(Optimum { value: self.value_at(&x), x, duals: solution.z[..self.rows.len()].to_vec() })
    }

    fn value_at(&self, x: &[f64]) -> f64 {
        self.objective.iter().zip(x).map(|(gain, x)| gain * x).sum()
    }

    /// The most by which a point breaks a row or a bound.
    #[must_use]
    pub fn violation(&self, x: &[f64]) -> f64 {
        let rows = self
            .rows
            .iter()
            .map(|row| row.terms.iter().map(|(at, factor)| factor * x[*at]).sum::<f64>() - row.most);
        let bounds = x
            .iter()
            .zip(self.lower.iter().zip(&self.upper))
            .map(|(x, (lower, upper))| (x - upper).max(lower - x));
        rows.chain(bounds).fold(0.0, f64::max)
    }
}

/// One entry per row, in order of rows.
fn merged(mut column: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    column.sort_by_key(|entry| entry.0);
    column.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    column
}
