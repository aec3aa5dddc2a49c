/**
 * The ledgers in SQL, as a table `l`, with the figures that follow by the formulas at the top of
 * src/ledger/ledger.ts. The history is not short of an amount before it had time to report it.
 * `not_shown` excludes amounts that verify has not reported yet.
 */
export const LEDGERS = `(
  SELECT *, captured + retained + recovered - refunded - written_off - missing AS ours
  FROM ledgers CROSS JOIN LATERAL (
    SELECT max(c) AS received, max(w) AS outflow, greatest(0, max(s - greatest(0, x))) AS held,
      greatest(0, max(x - s)) AS missing, greatest(0, min(CASE WHEN verify THEN 0 ELSE least(0, s) END - x)) AS not_shown
    FROM (VALUES
        (true, verify_received, verify_outflow, true),
        (false, history_received, history_outflow, history_reached_at >= coalesce(booked_in_at, '-infinity'))
      ) AS source (verify, c, w, had_time),
      LATERAL (SELECT w - (returned + refunded + written_off - off_provider - recovered) AS x) AS excess_outflow,
      LATERAL (SELECT greatest(c - (captured + retained + returned), CASE WHEN had_time THEN NULL ELSE 0 END) AS s) AS surplus
  ) AS position) AS l`;
