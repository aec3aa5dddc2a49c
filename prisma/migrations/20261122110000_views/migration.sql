-- What several statements ask in the same words. Adds only: the version before this one does not read them.

-- Currencies in which no checkout begins now.
CREATE VIEW stopped_currencies AS
  SELECT mode, currency, reference, stopped_at FROM currency_stops WHERE released_at IS NULL;

-- Money that a person has decided about. Money that paid its order after all ("earned") is that order's.
CREATE VIEW decided_money AS
  SELECT mode, reference, currency, amount, decision, closed_at AS decided_at FROM suspense_items
  WHERE closed_at IS NOT NULL AND decision <> 'earned';
