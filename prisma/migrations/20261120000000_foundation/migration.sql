-- The promises of this schema hold against every program that writes to it, ours and yours:
-- an order is paid only by evidence, value is released once, and the journal cannot be rewritten.
-- Money is bigint minor units plus currency. Times are timestamptz. Statuses are lower-case words.


-- What can be bought? Prices are the server's; nothing a browser sends changes them.
CREATE TABLE products (
  sku         text PRIMARY KEY CHECK (sku ~ '^[A-Za-z0-9._-]{1,64}$'),
  name        text NOT NULL,
  description text NOT NULL DEFAULT '',
  image       text NOT NULL DEFAULT '',
  unit_amount bigint NOT NULL CHECK (unit_amount > 0),
  currency    text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  active      boolean NOT NULL DEFAULT true,
  position    integer NOT NULL DEFAULT 0
);


-- Who owes what, and has it been paid?
CREATE TABLE orders (
  id          text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9]{24}$'),
  external_id text,
  mode        text NOT NULL CHECK (mode IN ('test', 'live')),
  email       text NOT NULL,
  amount      bigint NOT NULL CHECK (amount > 0),
  currency    text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  status      text NOT NULL DEFAULT 'pending'
              CHECK (status IN ('pending', 'paid', 'failed', 'expired', 'review')),
  release_id  text,
  paid_at     timestamptz,
  created_at  timestamptz NOT NULL DEFAULT now(),

  UNIQUE (mode, external_id),
  -- Payments point at all four, so no payment can differ from its order in mode, amount or currency.
  UNIQUE (id, mode, amount, currency),
  -- "paid" without a release does not exist, and neither does the reverse.
  CONSTRAINT paid_needs_a_release CHECK ((status = 'paid') = (release_id IS NOT NULL)),
  CONSTRAINT paid_has_a_time      CHECK ((status = 'paid') = (paid_at IS NOT NULL))
);
-- Operators page through orders, newest first.
CREATE INDEX orders_by_time ON orders (created_at DESC, id DESC);

-- What the shopper bought, at the price that was shown: a snapshot, untouched by later price changes.
CREATE TABLE order_lines (
  order_id    text NOT NULL REFERENCES orders (id),
  position    integer NOT NULL,
  sku         text,
  description text NOT NULL,
  unit_amount bigint NOT NULL CHECK (unit_amount > 0),
  quantity    integer NOT NULL CHECK (quantity > 0),
  PRIMARY KEY (order_id, position)
);


-- Each attempt to collect for an order: one reference, one initialize call on the wire, ever.
CREATE TABLE payments (
  reference       text PRIMARY KEY CHECK (reference ~ '^[A-Za-z0-9]{24}$'),
  order_id        text NOT NULL,
  mode            text NOT NULL,
  amount          bigint NOT NULL,
  currency        text NOT NULL,
  status          text NOT NULL CHECK (status IN
                  ('created', 'sending', 'open', 'ambiguous', 'refused', 'paid', 'failed', 'expired', 'held')),
  checkout_url    text,
  -- Why the service refused, or why we do not know: a word of ours, never text from outside.
  reason          text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  -- The clock: when this payment is looked at next (null: no more by itself), until when a worker holds it,
  -- and how often it was looked at.
  next_check_at   timestamptz,
  leased_until    timestamptz,
  checks          integer NOT NULL DEFAULT 0,
  -- Hints (webhooks, returns): how many came, how many a check has answered, when the last one was acted on.
  -- A hint that arrives during a check makes the first number larger than the second, so it is never lost.
  hints           integer NOT NULL DEFAULT 0,
  hints_answered  integer NOT NULL DEFAULT 0,
  last_hinted_at  timestamptz,

  FOREIGN KEY (order_id, mode, amount, currency) REFERENCES orders (id, mode, amount, currency),
  UNIQUE (reference, order_id, mode, amount, currency),
  CONSTRAINT open_has_an_address CHECK (status <> 'open' OR checkout_url IS NOT NULL)
);
CREATE INDEX payments_of_order ON payments (order_id);
-- Due rows are the queue; rows that nobody will look at again are not in it.
CREATE INDEX payments_due ON payments (next_check_at) WHERE next_check_at IS NOT NULL;


-- What did the service answer when we asked about a payment? Evidence is only ever added.
CREATE TABLE verifications (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  reference   text NOT NULL,
  order_id    text NOT NULL,
  mode        text NOT NULL,
  outcome     text NOT NULL CHECK (outcome IN
              ('paid', 'pending', 'failed', 'expired', 'reversed', 'underpaid', 'overpaid', 'unit_error',
               'currency_mismatch', 'mode_mismatch', 'reference_mismatch', 'unknown_status', 'unproven',
               'not_found', 'unreadable')),
  -- Read from the answer: its own status word, its exact amount in minor units, its currency.
  status_word text,
  amount      bigint,
  currency    text,
  -- The answer itself, for the dossier. The digest stays when the body is pruned.
  http_status integer NOT NULL,
  body        bytea,
  body_sha256 bytea NOT NULL,
  -- What made us ask: return, webhook, schedule, reconciliation, operator.
  cause       text NOT NULL CHECK (cause IN ('return', 'webhook', 'schedule', 'reconciliation', 'operator')),
  answered_at timestamptz NOT NULL DEFAULT now(),

  FOREIGN KEY (reference) REFERENCES payments (reference),
  -- Releases point at all seven.
  UNIQUE (id, order_id, reference, mode, amount, currency, outcome),
  CONSTRAINT paid_is_proven CHECK (outcome <> 'paid' OR (amount IS NOT NULL AND currency IS NOT NULL))
);
CREATE INDEX verifications_of_payment ON verifications (reference, id);


-- The value given for a paid order: at most one per order, one order per payment, and only on evidence.
CREATE TABLE releases (
  id              text PRIMARY KEY,
  order_id        text NOT NULL UNIQUE,
  reference       text NOT NULL,
  mode            text NOT NULL,
  amount          bigint NOT NULL,
  currency        text NOT NULL,
  outcome         text NOT NULL DEFAULT 'paid' CHECK (outcome = 'paid'),
  verification_id bigint NOT NULL,
  released_at     timestamptz NOT NULL DEFAULT now(),
  -- Delivery to the shop's own system: waiting until next_check_at, delivered, or given up for a person.
  delivery        text NOT NULL CHECK (delivery IN ('unneeded', 'waiting', 'delivered', 'dead')),
  next_check_at   timestamptz,
  leased_until    timestamptz,
  attempts        integer NOT NULL DEFAULT 0,
  delivered_at    timestamptz,
  last_error      text,

  UNIQUE (mode, reference),
  UNIQUE (id, order_id),
  -- The payment and the verification are of this order, and all three agree in mode, amount and currency.
  CONSTRAINT released_for_its_payment FOREIGN KEY (reference, order_id, mode, amount, currency)
    REFERENCES payments (reference, order_id, mode, amount, currency),
  CONSTRAINT released_on_evidence FOREIGN KEY (verification_id, order_id, reference, mode, amount, currency, outcome)
    REFERENCES verifications (id, order_id, reference, mode, amount, currency, outcome)
);
CREATE INDEX releases_due ON releases (next_check_at) WHERE next_check_at IS NOT NULL;

ALTER TABLE orders ADD CONSTRAINT paid_by_its_release
  FOREIGN KEY (release_id, id) REFERENCES releases (id, order_id);


-- What did the service call us about? The bytes as they came; nothing in them is ever believed.
CREATE TABLE webhooks (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The same body again is the same event: services number deliveries, not events.
  body_sha256      bytea NOT NULL UNIQUE,
  body             bytea NOT NULL,
  content_type     text NOT NULL DEFAULT '',
  authenticity     text NOT NULL CHECK (authenticity IN ('signed', 'unsigned')),
  reference        text,
  -- hinted: it named a payment of ours, which is now due. ignored: it did not.
  outcome          text NOT NULL CHECK (outcome IN ('hinted', 'ignored')),
  deliveries       integer NOT NULL DEFAULT 1,
  received_at      timestamptz NOT NULL DEFAULT now(),
  last_received_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_of_reference ON webhooks (reference) WHERE reference IS NOT NULL;


-- Money the shop holds and has not earned. Each row has an owner and an end.
CREATE TABLE suspense_items (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode            text NOT NULL CHECK (mode IN ('test', 'live')),
  class           text NOT NULL,
  reference       text NOT NULL,
  order_id        text REFERENCES orders (id),
  verification_id bigint REFERENCES verifications (id),
  amount          bigint NOT NULL CHECK (amount > 0),
  currency        text NOT NULL,
  opened_at       timestamptz NOT NULL DEFAULT now(),
  owner           text,
  closed_at       timestamptz,
  closed_by       text,
  note            text,

  CONSTRAINT closed_by_somebody CHECK ((closed_at IS NULL) = (closed_by IS NULL))
);
-- One open item per payment: when more money comes, the item changes. Closed ones stay as history.
CREATE UNIQUE INDEX suspense_open ON suspense_items (mode, reference) WHERE closed_at IS NULL;


-- Each reconciliation: what it read, what it said.
CREATE TABLE reconciliation_runs (
  id          text PRIMARY KEY,
  mode        text NOT NULL CHECK (mode IN ('test', 'live')),
  started_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  complete    boolean,
  verdict     text CHECK (verdict IN ('agreed', 'findings', 'incomplete')),
  dry_run     boolean NOT NULL DEFAULT false,
  report      jsonb
);
CREATE INDEX reconciliation_runs_by_time ON reconciliation_runs (started_at DESC);

-- Disagreements between orders and transactions that nobody has resolved yet.
CREATE TABLE findings (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode          text NOT NULL CHECK (mode IN ('test', 'live')),
  class         text NOT NULL,
  reference     text NOT NULL,
  order_id      text REFERENCES orders (id),
  currency      text,
  expected      bigint,
  actual        bigint,
  first_run_id  text NOT NULL REFERENCES reconciliation_runs (id),
  last_run_id   text NOT NULL REFERENCES reconciliation_runs (id),
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at  timestamptz NOT NULL DEFAULT now(),
  closed_at     timestamptz,
  -- A name, or 'reconciliation' when a later run no longer saw the disagreement.
  closed_by     text,
  note          text,
  CONSTRAINT closed_by_somebody CHECK ((closed_at IS NULL) = (closed_by IS NULL))
);
-- One open finding per disagreement; closed ones stay as history.
CREATE UNIQUE INDEX findings_open ON findings (mode, class, reference) WHERE closed_at IS NULL;


-- Everything that happened to an order, in order. Numbers are dense, entries are chained by hash.
CREATE TABLE journal (
  order_id      text NOT NULL REFERENCES orders (id),
  seq           integer NOT NULL,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  event         text NOT NULL,
  reference     text,
  -- What made it happen: shopper, return, webhook, schedule, reconciliation, operator:<name>.
  cause         text NOT NULL,
  detail        jsonb NOT NULL DEFAULT '{}',
  previous_hash bytea NOT NULL,
  hash          bytea NOT NULL,
  PRIMARY KEY (order_id, seq)
);

-- The text whose SHA-256 is an entry's hash. One function, so that writing and checking cannot drift apart.
CREATE FUNCTION journal_hash(entry journal) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT sha256(convert_to(concat_ws(E'\x1f',
    entry.order_id, entry.seq::text, extract(epoch FROM entry.at)::text, entry.event,
    coalesce(entry.reference, ''), entry.cause, entry.detail::text, encode(entry.previous_hash, 'hex')), 'UTF8'))
$$;

-- Numbers and chains each new entry, whatever the writer put there. The lock is per order: two writers to one
-- order queue, and the second sees the first one's entry because each query in here takes a fresh snapshot.
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

-- Evidence, releases and history are added to, never taken back.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% on % is refused: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER journal_is_append_only BEFORE UPDATE OR DELETE ON journal
  FOR EACH ROW EXECUTE FUNCTION refuse_change('the journal is append-only');
CREATE TRIGGER journal_is_not_emptied BEFORE TRUNCATE ON journal
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the journal is append-only');
CREATE TRIGGER verifications_stay BEFORE DELETE ON verifications
  FOR EACH ROW EXECUTE FUNCTION refuse_change('evidence is kept');
-- Everything but the body, which retention may prune.
CREATE TRIGGER verifications_are_frozen BEFORE UPDATE ON verifications
  FOR EACH ROW WHEN ((OLD.id, OLD.reference, OLD.order_id, OLD.mode, OLD.outcome, OLD.status_word, OLD.amount,
    OLD.currency, OLD.http_status, OLD.body_sha256, OLD.cause, OLD.answered_at)
    IS DISTINCT FROM (NEW.id, NEW.reference, NEW.order_id, NEW.mode, NEW.outcome, NEW.status_word, NEW.amount,
    NEW.currency, NEW.http_status, NEW.body_sha256, NEW.cause, NEW.answered_at) OR NEW.body IS NOT NULL)
  EXECUTE FUNCTION refuse_change('evidence is not rewritten');
CREATE TRIGGER releases_stay BEFORE DELETE ON releases
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a release is for ever');
CREATE TRIGGER releases_are_frozen BEFORE UPDATE ON releases
  FOR EACH ROW WHEN ((OLD.id, OLD.order_id, OLD.reference, OLD.mode, OLD.amount, OLD.currency, OLD.outcome,
    OLD.verification_id, OLD.released_at) IS DISTINCT FROM (NEW.id, NEW.order_id, NEW.reference, NEW.mode,
    NEW.amount, NEW.currency, NEW.outcome, NEW.verification_id, NEW.released_at))
  EXECUTE FUNCTION refuse_change('a release is for ever');
-- Until it is paid, an order stands where its payments stand. Kept here, under the order's lock and with a fresh look
-- at the other payments: two payments that fail at the same instant must not each see the other one still open.
CREATE FUNCTION order_follows_payments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was text;
  now_is text;
BEGIN
  SELECT status INTO was FROM orders WHERE id = NEW.order_id FOR NO KEY UPDATE;
  SELECT CASE
    WHEN bool_or(status = 'held') THEN 'review'
    WHEN bool_or(status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'pending'
    WHEN bool_or(status IN ('failed', 'refused')) THEN 'failed'
    ELSE 'expired' END
  INTO now_is FROM payments WHERE order_id = NEW.order_id;
  IF was <> 'paid' AND was <> now_is THEN
    UPDATE orders SET status = now_is WHERE id = NEW.order_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER order_follows_payments AFTER UPDATE OF status ON payments
  FOR EACH ROW WHEN (OLD.status <> NEW.status AND NEW.status <> 'paid' AND (NEW.status <> 'open' OR OLD.status = 'held')
    -- That our own key was refused says nothing about the order.
    AND NEW.reason IS DISTINCT FROM 'key-refused')
  EXECUTE FUNCTION order_follows_payments();
-- There is no way back from paid. Money that goes back later is a finding about a paid order.
CREATE TRIGGER paid_orders_are_frozen BEFORE UPDATE ON orders
  FOR EACH ROW WHEN (OLD.status = 'paid' AND OLD IS DISTINCT FROM NEW)
  EXECUTE FUNCTION refuse_change('the order is paid');


-- How often has somebody asked lately? Shared by all nodes; the limiter's own table.
CREATE TABLE rate_limits (
  key    varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);
