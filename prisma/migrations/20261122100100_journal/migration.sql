-- What happened to an order, in the order in which it happened: append-only, numbered without gaps, chained by
-- hash. Its entries keep digests of the rows that they speak of, so a row that was changed by other means shows.

CREATE TABLE journal (
  order_id      text NOT NULL REFERENCES orders (id),
  seq           integer NOT NULL,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  event         text NOT NULL,
  reference     text,
  -- What made it happen: shopper, shop, return, webhook, schedule, reconciliation, operator, operator:<name>.
  cause         text NOT NULL,
  detail        jsonb NOT NULL DEFAULT '{}',
  previous_hash bytea NOT NULL,
  hash          bytea NOT NULL,
  PRIMARY KEY (order_id, seq)
);

-- One function for each digest: what writes it and what checks it cannot differ. They are STABLE, not IMMUTABLE:
-- texts of times and encodings are only stable, and PostgreSQL writes a function into the calling statement only
-- when it is not declared as more than it calls. They are called for each entry and each verification.
CREATE FUNCTION journal_hash(entry journal) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(convert_to(concat_ws(E'\x1f',
    entry.order_id, entry.seq::text, extract(epoch FROM entry.at)::text, entry.event,
    coalesce(entry.reference, ''), entry.cause, entry.detail::text, encode(entry.previous_hash, 'hex')), 'UTF8'))
$$;
-- The body counts by its digest, so it may be pruned.
CREATE FUNCTION evidence_hash(evidence verifications) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(concat_ws(E'\x1f',
    evidence.id::text, evidence.reference, evidence.order_id, evidence.mode, evidence.outcome,
    coalesce(evidence.status_word, ''), coalesce(evidence.amount::text, ''), coalesce(evidence.currency, ''),
    evidence.http_status::text, encode(evidence.body_sha256, 'hex'), evidence.cause,
    extract(epoch FROM evidence.answered_at)::text), 'UTF8')), 'hex')
$$;
CREATE FUNCTION order_hash(id text, external_id text, mode text, amount bigint, currency text, lines jsonb)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(jsonb_build_array(id, external_id, mode, amount::text, currency, (
    SELECT jsonb_agg(jsonb_build_array(l.position, l.sku, l.description, l.unit_amount::text, l.quantity) ORDER BY l.position)
    FROM jsonb_to_recordset(lines) AS l (position int, sku text, description text, unit_amount bigint, quantity int)
  ))::text, 'UTF8')), 'hex')
$$;
CREATE FUNCTION text_hash(given text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(given, 'UTF8')), 'hex')
$$;

-- Numbers and chains each new entry, whatever its writer put there. The lock is per order: two writers to one
-- order queue here, and the second sees the first one's entry, because each query in this function takes a new
-- snapshot.
CREATE FUNCTION journal_append() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last_seq  integer;
  last_hash bytea;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(NEW.order_id, 0));
  SELECT seq, hash INTO last_seq, last_hash FROM journal
    WHERE order_id = NEW.order_id ORDER BY seq DESC LIMIT 1;
  NEW.seq := coalesce(last_seq, 0) + 1;
  NEW.previous_hash := coalesce(last_hash, sha256(convert_to(NEW.order_id, 'UTF8')));
  NEW.hash := journal_hash(NEW);
  RETURN NEW;
END $$;
CREATE TRIGGER journal_append BEFORE INSERT ON journal FOR EACH ROW EXECUTE FUNCTION journal_append();

CREATE TRIGGER journal_is_append_only BEFORE UPDATE OR DELETE ON journal
  FOR EACH ROW EXECUTE FUNCTION refuse_change('the journal is append-only');
CREATE TRIGGER journal_is_not_emptied BEFORE TRUNCATE ON journal
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the journal is append-only');
