-- How much of the money that people have decided about is there now. The service may show it again, or less of it, or
-- other money after it; the list may show charges that verify does not.

-- As before, and the answer that showed the money last; null: only the list did.
CREATE OR REPLACE VIEW decided_money AS
  SELECT mode, reference, currency, amount, decision, closed_at AS decided_at, opened_at, verification_id
  FROM suspense_items
  WHERE closed_at IS NOT NULL AND decision NOT IN ('earned', 'accept');

-- In minor units. It follows the answers and the decisions in the order of time. What verify shows as gone, since a
-- decision or as the last word before it, is not there: what comes afterwards is other money.
-- earned: the money of the payment that is no part of it.
-- heeds_verify: whether answers tell how much is there; else it is the sum of the decisions.
-- keeps_listed: what only the list has shown stays while verify shows none; else it goes.
-- listed_now: what the list shows, where it is asked about a list; null: it is asked about an answer.
CREATE FUNCTION decided_now(of_mode text, of_reference text, of_currency text, earned bigint, heeds_verify boolean,
  keeps_listed boolean, listed_now bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  of_verify bigint := 0; -- of the decided money, what verify has shown
  of_list bigint := 0; -- the rest of it
  seen bigint; -- what the last answer shows, and since when
  seen_at timestamptz;
  event record;
  part bigint;
BEGIN
  FOR event IN
    SELECT answered_at AS at, NULL::timestamptz AS opened_at, NULL::bigint AS amount,
      CASE WHEN outcome IN ('failed', 'expired', 'reversed') THEN 0 ELSE greatest(v.amount - earned, 0) END AS shown
    FROM verifications v
    WHERE heeds_verify AND v.reference = of_reference AND (outcome IN ('failed', 'expired', 'reversed') OR
      outcome IN ('underpaid', 'overpaid', 'unit_error', 'currency_mismatch', 'paid') AND v.currency = of_currency)
    UNION ALL
    SELECT d.decided_at, d.opened_at, d.amount, v.amount - earned
    FROM decided_money d LEFT JOIN verifications v
      ON v.id = d.verification_id AND v.currency = d.currency AND v.amount > earned
    WHERE d.mode = of_mode AND d.reference = of_reference AND d.currency = of_currency
      -- About several charges, of which none was left when a run looked. Or its finding has disappeared (not grown,
      -- which is the next finding), and the list shows as much again. So that is other money.
      AND NOT EXISTS (SELECT FROM findings was
        WHERE was.mode = d.mode AND was.reference = d.reference AND was.closed_at = d.decided_at
          AND was.class = 'duplicate_payment' AND (listed_now IS NOT NULL AND was.nothing_left_at IS NOT NULL
            OR was.gone_at IS NOT NULL AND was.actual <= listed_now AND NOT EXISTS (
              SELECT FROM findings g WHERE g.reference = was.reference AND g.first_seen_at = was.gone_at)))
    ORDER BY at, opened_at NULLS FIRST
  LOOP
    IF event.opened_at IS NULL THEN
      seen := event.shown;
      seen_at := event.at;
    ELSIF event.shown IS NULL OR NOT heeds_verify THEN
      of_list := of_list + event.amount;
    -- Else a person decided once more about what the list had shown before, which is counted already.
    ELSIF event.shown > of_verify THEN
      of_verify := of_verify + least(event.shown - of_verify, event.amount);
      of_list := of_list + greatest(event.amount - event.shown, 0);
    END IF;
    -- A decision about money that came after the answer is not bound by it.
    IF event.opened_at IS NULL OR event.opened_at < seen_at THEN
      IF seen = 0 AND NOT keeps_listed THEN of_list := 0; END IF;
      part := least(greatest(seen - of_verify, 0), of_list);
      of_verify := least(of_verify, seen) + part;
      -- Once verify shows some of it, what is left of it is shown.
      IF part > 0 THEN of_list := 0; END IF;
    END IF;
  END LOOP;
  RETURN of_verify + of_list;
END $$;
