-- What the shop sells, what shoppers owe, and the evidence that they paid.
--
-- These promises hold against every program that writes here, ours and yours: an order is paid only by
-- evidence, value is released once, and evidence is never rewritten. Money is bigint in minor units beside its
-- currency. Times are timestamptz. Statuses are lower-case words.


-- The catalogue. Prices are the server's: nothing that a browser sends changes them.
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


-- What a shopper buys.
CREATE TABLE orders (
  id              text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9]{24}$'),
  -- The number that the shop gave it.
  external_id     text,
  mode            text NOT NULL CHECK (mode IN ('test', 'live')),
  email           text NOT NULL,
  -- The journal keeps a digest of the address, made with this salt. Both are erased together, and then the
  -- digest says nothing.
  email_salt      uuid DEFAULT gen_random_uuid(),
  -- What else the shopper said, as src/orders/shopper-details.ts names it.
  shopper_details jsonb NOT NULL DEFAULT '{}',
  amount          bigint NOT NULL CHECK (amount > 0),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  status          text NOT NULL DEFAULT 'pending'
                  CHECK (status IN ('pending', 'paid', 'failed', 'expired', 'review')),
  -- Which configured storefront address the shopper returns to. Null: the first one.
  return_url      text,
  release_id      text,
  paid_at         timestamptz,
  created_at      timestamptz NOT NULL DEFAULT now(),

  UNIQUE (mode, external_id),
  -- Payments point at all four, so no payment can differ from its order in mode, amount or currency.
  UNIQUE (id, mode, amount, currency),
  CONSTRAINT paid_needs_a_release CHECK ((status = 'paid') = (release_id IS NOT NULL)),
  CONSTRAINT paid_has_a_time      CHECK ((status = 'paid') = (paid_at IS NOT NULL))
)
-- An order changes soon after it is written and then hardly ever. A row that finds room on its own page when
-- it changes costs no index entry.
WITH (fillfactor = 80);
-- Operators page through orders, newest first, and find those of an e-mail address.
CREATE INDEX orders_by_time ON orders (created_at DESC, id DESC);
CREATE INDEX orders_by_email ON orders (lower(email), created_at DESC, id DESC);

-- What was bought at which price: a snapshot that later price changes leave alone.
CREATE TABLE order_lines (
  order_id    text NOT NULL REFERENCES orders (id),
  position    integer NOT NULL,
  sku         text,
  description text NOT NULL,
  unit_amount bigint NOT NULL CHECK (unit_amount > 0),
  quantity    integer NOT NULL CHECK (quantity > 0),
  PRIMARY KEY (order_id, position)
);


-- One attempt to collect for an order: one reference, and one initialize call on the wire, ever.
CREATE TABLE payments (
  reference        text PRIMARY KEY CHECK (reference ~ '^[A-Za-z0-9]{24}$'),
  order_id         text NOT NULL,
  mode             text NOT NULL,
  amount           bigint NOT NULL,
  currency         text NOT NULL,
  status           text NOT NULL CHECK (status IN
                   ('created', 'sending', 'open', 'ambiguous', 'refused', 'paid', 'failed', 'expired', 'held')),
  checkout_url     text,
  -- Why the service refused, or why the outcome is unknown: a word of ours, never text from outside.
  reason           text,
  created_at       timestamptz NOT NULL DEFAULT now(),
  -- The schedule: when the poller asks verify next (null: no more by itself), until when a worker holds the
  -- row, how many checks there were, and when the service last answered.
  next_check_at    timestamptz,
  leased_until     timestamptz,
  checks           integer NOT NULL DEFAULT 0,
  last_answer_at   timestamptz,
  -- Webhooks and returns: how many came, how many of them a check has answered, when the last was acted upon,
  -- and how many checks they caused since an answer last said something new. A hint that comes during a check
  -- makes `hints` larger than `hints_answered`, so none is lost.
  hints            integer NOT NULL DEFAULT 0,
  hints_answered   integer NOT NULL DEFAULT 0,
  last_hinted_at   timestamptz,
  hint_checks      integer NOT NULL DEFAULT 0,
  -- How often its money in suspense has changed. A confirmation compares it with what its decision saw,
  -- because a person may decide while a verify call is in flight.
  suspense_changes integer NOT NULL DEFAULT 0,
  -- When a person last decided about its money (refund, credit, keep, write off) before it had paid.
  decided_at       timestamptz,

  FOREIGN KEY (order_id, mode, amount, currency) REFERENCES orders (id, mode, amount, currency),
  UNIQUE (reference, order_id, mode, amount, currency),
  CONSTRAINT open_has_an_address       CHECK (status <> 'open' OR checkout_url IS NOT NULL),
  CONSTRAINT decided_money_pays_nothing CHECK (status <> 'paid' OR decided_at IS NULL)
)
WITH (fillfactor = 70);
CREATE INDEX payments_of_order ON payments (order_id);
-- Due rows are the queue. Rows that are not looked at again are not in it.
CREATE INDEX payments_due ON payments (next_check_at) WHERE next_check_at IS NOT NULL;


-- One stored answer of verify: the evidence.
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
  http_status integer NOT NULL,
  -- The answer itself. Its digest stays when the body is pruned.
  body        bytea,
  body_sha256 bytea NOT NULL,
  -- What made us ask.
  cause       text NOT NULL CHECK (cause IN ('return', 'webhook', 'schedule', 'reconciliation', 'operator')),
  answered_at timestamptz NOT NULL DEFAULT now(),

  FOREIGN KEY (reference) REFERENCES payments (reference),
  -- Releases point at all seven.
  UNIQUE (id, order_id, reference, mode, amount, currency, outcome),
  CONSTRAINT paid_is_proven CHECK (outcome <> 'paid' OR (amount IS NOT NULL AND currency IS NOT NULL))
);
CREATE INDEX verifications_of_payment ON verifications (reference, id);
-- Money for a payment that had been closed is late. Reconciliation asks about all payments, and few are closed.
CREATE INDEX verifications_that_closed ON verifications (reference, id) WHERE outcome IN ('failed', 'expired');
-- One error of unit makes the confirmation look for a second one.
CREATE INDEX verifications_of_unit_errors ON verifications (mode, id) WHERE outcome = 'unit_error';


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
  -- Delivery to the shop's receiver: there is none, waiting until `next_check_at`, delivered, or given up.
  delivery        text NOT NULL CHECK (delivery IN ('unneeded', 'waiting', 'delivered', 'dead')),
  next_check_at   timestamptz,
  leased_until    timestamptz,
  attempts        integer NOT NULL DEFAULT 0,
  delivered_at    timestamptz,
  last_error      text,
  -- When the three days of attempts began, moved by the time in which nothing was tried. Null before the first
  -- attempt, and again once a person asked for the delivery (`asked_again_at`).
  tried_since     timestamptz,
  asked_again_at  timestamptz,
  -- What the receiver is sent, kept before the first attempt: every attempt sends the same bytes, also after an
  -- upgrade of the program. Retention may take it out.
  message         text,

  UNIQUE (mode, reference),
  UNIQUE (id, order_id),
  -- The payment and the verification are of this order, and all agree in mode, amount and currency.
  CONSTRAINT released_for_its_payment FOREIGN KEY (reference, order_id, mode, amount, currency)
    REFERENCES payments (reference, order_id, mode, amount, currency),
  CONSTRAINT released_on_evidence FOREIGN KEY (verification_id, order_id, reference, mode, amount, currency, outcome)
    REFERENCES verifications (id, order_id, reference, mode, amount, currency, outcome)
);
-- Operators page through releases, newest first. Few are due, not delivered yet, or from a time without a receiver.
CREATE INDEX releases_by_time ON releases (released_at DESC, id DESC);
CREATE INDEX releases_due ON releases (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX releases_undelivered ON releases (released_at, id) WHERE delivery IN ('waiting', 'dead');
CREATE INDEX releases_unsent ON releases (released_at, id) WHERE delivery = 'unneeded';

ALTER TABLE orders ADD CONSTRAINT paid_by_its_release
  FOREIGN KEY (release_id, id) REFERENCES releases (id, order_id);


-- What is refused. The trigger's argument says why.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% on % is refused: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;

-- There is no way back from paid. Money that goes back later is a finding about a paid order. Only what is about
-- the shopper may be erased: the row goes on proving what was sold, for how much and on what evidence.
CREATE TRIGGER paid_orders_are_frozen BEFORE UPDATE ON orders
  FOR EACH ROW WHEN (OLD.status = 'paid' AND OLD IS DISTINCT FROM NEW
    AND (NEW.email <> 'erased' OR NEW.email_salt IS NOT NULL OR NEW.shopper_details <> '{}'
      OR to_jsonb(OLD) - '{email,email_salt,shopper_details}'::text[]
        IS DISTINCT FROM to_jsonb(NEW) - '{email,email_salt,shopper_details}'::text[]))
  EXECUTE FUNCTION refuse_change('the order is paid');
CREATE TRIGGER paid_payments_stay_paid BEFORE UPDATE OF status ON payments
  FOR EACH ROW WHEN (OLD.status = 'paid' AND NEW.status <> 'paid')
  EXECUTE FUNCTION refuse_change('the payment is paid');

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
CREATE TRIGGER release_messages_are_frozen BEFORE UPDATE OF message ON releases
  FOR EACH ROW WHEN (OLD.message IS NOT NULL AND NEW.message IS NOT NULL AND OLD.message <> NEW.message)
  EXECUTE FUNCTION refuse_change('a receiver may have this message already');

-- A payment that is held moves in the transaction that records the answer which moves it.
CREATE FUNCTION refuse_move_without_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT answered_at FROM verifications WHERE reference = NEW.reference ORDER BY id DESC LIMIT 1)
    IS DISTINCT FROM now() THEN
    RAISE EXCEPTION 'UPDATE on payments is refused: payment % is held, and only an answer of the service moves it',
      NEW.reference USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER held_payments_move_by_answers AFTER UPDATE OF status ON payments
  FOR EACH ROW WHEN (OLD.status = 'held' AND NEW.status <> 'held')
  EXECUTE FUNCTION refuse_move_without_answer();
