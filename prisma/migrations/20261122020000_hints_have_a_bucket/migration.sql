-- How many checks hints have caused since an answer last said something new: three are made at once, then the pauses
-- grow. And when the service last answered, since an answer that says the same again leaves no row in verifications.
ALTER TABLE payments ADD COLUMN hint_checks integer NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN last_answer_at timestamptz;
