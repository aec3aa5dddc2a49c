-- Until now `leased_until` held a lease or a silence that the service asked for (Retry-After), told apart by comparing
-- it with next_check_at. A lease of a payment that was due later than its end counted as a silence, and a second
-- process asked beside the first. While processes of 0.3.0 still run, a silence that one of them writes is over for
-- the new ones but for its last minute and a half, which they take for a lease: a hint may be followed too early,
-- the schedule is not. A lease of the poller means the same to both; one of a person or a run, of a payment due later,
-- still counts as a silence for an old process.
ALTER TABLE payments ADD COLUMN silent_until timestamptz;
