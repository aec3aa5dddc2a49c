-- Of several charges under one reference, the service's ids: what a person decided about is told by them from a charge
-- that comes later.
ALTER TABLE history_rows_test ADD COLUMN charge_ids text[];
ALTER TABLE history_rows_live ADD COLUMN charge_ids text[];
