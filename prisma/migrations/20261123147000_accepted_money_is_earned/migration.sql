-- As before. Money that a person accepted has paid its order, and is that order's too: it explains no further money.
CREATE OR REPLACE VIEW decided_money AS
  SELECT mode, reference, currency, amount, decision, closed_at AS decided_at FROM suspense_items
  WHERE closed_at IS NOT NULL AND decision NOT IN ('earned', 'accept');
