//! How far a verification is, told to whoever waits for it.

/// Steps done of all, over all checks.
pub(super) struct Steps<'a> {
    done: u64,
    all: u64,
    tell: &'a mut (dyn FnMut(u64, u64) + Send),
}

impl<'a> Steps<'a> {
    /// Steps of which none is done yet.
    pub(super) fn new(all: u64, tell: &'a mut (dyn FnMut(u64, u64) + Send)) -> Self {
        tell(0, all);
        Self { done: 0, all, tell }
    }

    /// Notes that so many more are done.
    pub(super) fn advance(&mut self, steps: u64) {
        self.done = (self.done + steps).min(self.all);
        (self.tell)(self.done, self.all);
    }
}
