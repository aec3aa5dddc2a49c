-- Whether a second order shows the same error of unit is asked when one does. Few answers ever do.
CREATE INDEX CONCURRENTLY IF NOT EXISTS verifications_of_unit_errors ON verifications (mode, id) WHERE outcome = 'unit_error';
