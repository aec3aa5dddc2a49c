-- Called for every journal entry and every verification. Said to be immutable, and reading times and encodings, which are
-- only stable, a function cannot be written into the statement that calls it, and each call starts an executor of its own.
ALTER FUNCTION journal_hash(journal) STABLE;
ALTER FUNCTION evidence_hash(verifications) STABLE;

-- A row that finds room on its own page when it changes costs no entry in the table's indexes. Payments and orders change
-- a few times soon after they are written, and then hardly ever again. Holds for pages written from here on.
ALTER TABLE payments SET (fillfactor = 70);
ALTER TABLE orders SET (fillfactor = 80);
