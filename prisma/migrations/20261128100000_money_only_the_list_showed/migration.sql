-- Of money that a person has decided about, the list may have shown more than verify did.

-- As before, and how much of it verify had not shown: what verify says later bounds only the rest.
CREATE OR REPLACE VIEW decided_money AS
  SELECT i.mode, i.reference, i.currency, i.amount, i.decision, i.closed_at AS decided_at, i.opened_at,
    greatest(i.amount - coalesce(v.amount, 0), 0) AS listed
  FROM suspense_items i LEFT JOIN verifications v ON v.id = i.verification_id
  WHERE i.closed_at IS NOT NULL AND i.decision NOT IN ('earned', 'accept');
