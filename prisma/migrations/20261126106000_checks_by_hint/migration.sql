-- The poller follows a hint without knowing whether a webhook, a return or an operator gave it; until now it wrote
-- `webhook` for all three. NOT VALID: the rows there are meet the narrower check that this one replaces.
ALTER TABLE verifications DROP CONSTRAINT verifications_cause_check;
ALTER TABLE verifications ADD CONSTRAINT verifications_cause_check
  CHECK (cause IN ('return', 'webhook', 'hint', 'schedule', 'reconciliation', 'operator')) NOT VALID;
