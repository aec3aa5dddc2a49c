-- Money that comes after a person has decided about other money of the same payment is told from it by time.

-- Of several charges that a person decided about, a run notes when it sees one charge only again: what the list shows
-- beyond that later is other money. Until now this was unknown where the charges had grown in between.
ALTER TABLE findings ADD COLUMN nothing_left_at timestamptz;
CREATE OR REPLACE TRIGGER findings_are_frozen BEFORE UPDATE ON findings FOR EACH ROW
  WHEN (OLD.closed_at IS NOT NULL AND to_jsonb(OLD) - 'gone_at' - 'nothing_left_at'
    IS DISTINCT FROM to_jsonb(NEW) - 'gone_at' - 'nothing_left_at')
  EXECUTE FUNCTION refuse_change('findings are kept');

-- As before, and since when the money had been held.
CREATE OR REPLACE VIEW decided_money AS
  SELECT mode, reference, currency, amount, decision, closed_at AS decided_at, opened_at
  FROM suspense_items
  WHERE closed_at IS NOT NULL AND decision NOT IN ('earned', 'accept');

-- A person accepts less, all of it is refunded, and then more comes: that pays for nothing. As before, but what comes
-- once refunds have taken back all that had come is not confirmed. It is held in suspense (decide.ts).
CREATE OR REPLACE VIEW confirmed_money AS
  SELECT r.id, r.mode, r.order_id, r.reference, r.currency, r.released_at AS at, least(r.amount, a.amount) AS amount,
    r.verification_id, true AS is_release
  FROM releases r LEFT JOIN acceptances a ON a.id = r.acceptance_id
  UNION ALL
  SELECT r.id || '+' || rest.id, r.mode, r.order_id, r.reference, r.currency, greatest(rest.at, r.released_at),
    rest.amount - rest.before, rest.id, false
  FROM acceptances a JOIN releases r ON r.order_id = a.order_id AND r.acceptance_id = a.id
  CROSS JOIN LATERAL (
    SELECT *, bool_or(before <= (SELECT coalesce(sum(b.amount), 0) FROM refunds b
        WHERE b.order_id = a.order_id AND b.refunded_at <= grown.at))
      OVER (ORDER BY at, id DESC ROWS UNBOUNDED PRECEDING) AS is_after_refund
    FROM (
      SELECT *, greatest(a.amount, max(amount) OVER (ORDER BY at, id DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS before
      FROM (
        SELECT v.id, v.answered_at AS at, least(v.amount, r.amount) AS amount FROM verifications v
          WHERE v.reference = r.reference AND v.id > a.verification_id AND v.currency = r.currency
            AND v.outcome IN ('paid', 'underpaid', 'overpaid')
        UNION ALL
        SELECT a.verification_id, i.opened_at, r.amount FROM suspense_items i
        WHERE (i.mode, i.reference) = (r.mode, r.reference) AND i.opened_at > a.accepted_at
      ) shown
    ) grown
  ) rest
  WHERE a.amount < r.amount AND rest.amount > rest.before AND NOT rest.is_after_refund;

-- Hours that were summed with such money are summed again.
DO $$
DECLARE
  of_mode text;
  first timestamptz;
BEGIN
  FOR of_mode, first IN
    SELECT a.mode, date_trunc('hour', min(a.accepted_at), 'UTC') FROM acceptances a JOIN refunds b USING (order_id)
    WHERE a.outcome = 'underpaid' GROUP BY a.mode
  LOOP
    DELETE FROM confirmed_hours WHERE mode = of_mode AND hour >= first;
    UPDATE confirmed_until SET summed_until = first WHERE mode = of_mode AND summed_until > first;
  END LOOP;
END $$;
