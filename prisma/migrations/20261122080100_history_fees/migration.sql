-- Adds only: the version before this one goes on working beside the new one, and knows no fees.

-- What the service took off the amount, in its minor units, where the dialect says where a record names it.
ALTER TABLE history_rows_test ADD COLUMN fee bigint;
ALTER TABLE history_rows_live ADD COLUMN fee bigint;
