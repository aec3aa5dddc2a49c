-- The database as the migrations leave it, for reading: no program runs this file. `npm run db:schema` writes
-- it, and test/prisma compares it with the migrations. The comments are those of schema.prisma.
-- Left out: the tables of Prisma, of the limits on requests and of reconciliation's staging.

-- An order is paid only if
--   it has a release (paid_needs_a_release), that is its own (paid_by_its_release), and there is no other
--     of the order (releases_order_id_key);
--   the release is of one of its payments, of the same mode, amount and currency (released_for_its_payment);
--   the release rests on one proof (released_on_one_proof), which is
--     an answer of verify about that payment that says paid and exactly this money (released_on_evidence),
--     or a person's acceptance of what came (released_on_acceptance).
-- A payment is paid only if it has that release (the trigger paid_payments_are_released).
-- All of it rests on the rows of verifications: who may insert there can make an order paid. In the program only
-- src/payments/record.sql.ts does, with what verify has just answered.

-- The catalogue of a shop that keeps it here. Amounts are in minor units of the currency.
CREATE TABLE products (
  sku text NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  image text NOT NULL DEFAULT '',
  unit_amount bigint NOT NULL,
  currency text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  -- Where it stands on the shop page, ascending.
  position integer NOT NULL DEFAULT 0,
  CONSTRAINT products_pkey PRIMARY KEY (sku),
  CONSTRAINT products_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
  CONSTRAINT products_sku_check CHECK (sku ~ '^[A-Za-z0-9._-]{1,64}$'),
  CONSTRAINT products_unit_amount_check CHECK (unit_amount > 0)
);

-- What a shopper buys, priced by the server. `paid` needs a release, a constraint holds that.
CREATE TABLE orders (
  id text NOT NULL,
  -- The shop's own number of the order, unique per mode.
  external_id text,
  mode text NOT NULL,
  email text NOT NULL,
  -- Salt of the journal's digest of the address; null once the address was erased.
  email_salt uuid DEFAULT gen_random_uuid(),
  shopper_details jsonb NOT NULL DEFAULT '{}'::jsonb,
  amount bigint NOT NULL,
  currency text NOT NULL,
  -- pending, paid, failed, expired, review or cancelled.
  status text NOT NULL DEFAULT 'pending',
  -- Where this order's shopper lands after the payment; null: the default.
  return_url text,
  release_id text,
  paid_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The id that its release will have, if it follows from externalId; null: it is made from the order's id.
  planned_release_id text,
  cancelled_at timestamptz,
  -- A person's name, or `shop` for a call of the shop's own system.
  cancelled_by text,
  cancel_reason text,
  -- Tells whether the same externalId comes with the same content again; null: nothing to compare with.
  content_hash bytea,
  -- Texts of the shop's own.
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  -- Until when it may be paid; null: as long as money may come.
  pay_by timestamptz,
  -- When the worker looks at that next; null: there is no deadline, or the order has ended.
  deadline_check_at timestamptz,
  -- When it expired for good.
  expired_at timestamptz,
  CONSTRAINT orders_pkey PRIMARY KEY (id),
  CONSTRAINT orders_id_mode_amount_currency_key UNIQUE (id, mode, amount, currency),
  CONSTRAINT orders_mode_external_id_key UNIQUE (mode, external_id),
  CONSTRAINT paid_by_its_release FOREIGN KEY (release_id, id) REFERENCES releases(id, order_id),
  CONSTRAINT cancelled_by_somebody CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)
    AND (cancelled_at IS NULL) = (cancelled_by IS NULL)
    AND (cancelled_at IS NULL) = (cancel_reason IS NULL)),
  CONSTRAINT expired_for_good CHECK (expired_at IS NULL OR (status IN ('expired', 'cancelled'))
    AND pay_by IS NOT NULL),
  CONSTRAINT orders_amount_check CHECK (amount > 0),
  CONSTRAINT orders_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
  CONSTRAINT orders_id_check CHECK (id ~ '^[A-Za-z0-9]{24}$'),
  CONSTRAINT orders_mode_check CHECK (mode IN ('test', 'live')),
  CONSTRAINT orders_status_check CHECK (status IN ('pending', 'paid', 'failed', 'expired', 'review',
    'cancelled')),
  CONSTRAINT paid_has_a_time CHECK ((status = 'paid') = (paid_at IS NOT NULL)),
  CONSTRAINT paid_needs_a_release CHECK ((status = 'paid') = (release_id IS NOT NULL)),
  CONSTRAINT pay_by_is_near CHECK (pay_by IS NULL OR pay_by > created_at
    AND pay_by <= (created_at + '193:00:00'::interval))
);
CREATE INDEX orders_by_email ON orders USING btree (lower(email), created_at DESC, id DESC);
CREATE INDEX orders_by_time ON orders USING btree (created_at DESC, id DESC);
CREATE INDEX orders_due ON orders USING btree (deadline_check_at) WHERE deadline_check_at IS NOT NULL;
CREATE CONSTRAINT TRIGGER erasure_is_told AFTER UPDATE OF email ON orders DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (new.email = 'erased' AND old.email <> 'erased') EXECUTE FUNCTION erasure_is_told();
CREATE TRIGGER final_expiry_writes_event AFTER UPDATE OF expired_at ON orders FOR EACH ROW
  WHEN (old.status = 'expired' AND new.status = 'expired' AND old.expired_at IS NULL
  AND new.expired_at IS NOT NULL) EXECUTE FUNCTION order_writes_event();
CREATE TRIGGER order_reopened_writes_event AFTER UPDATE OF status ON orders FOR EACH ROW
  WHEN (old.status = 'cancelled' AND new.status <> 'cancelled')
  EXECUTE FUNCTION order_reopened_writes_event();
CREATE TRIGGER order_writes_event AFTER UPDATE OF status ON orders FOR EACH ROW
  WHEN (old.status <> new.status AND (new.status IN ('review', 'failed', 'expired', 'cancelled')))
  EXECUTE FUNCTION order_writes_event();
CREATE TRIGGER orders_cost_the_same BEFORE UPDATE OF id, mode, amount, currency,
  planned_release_id ON orders FOR EACH ROW WHEN (old.id IS DISTINCT FROM new.id
  OR old.mode IS DISTINCT FROM new.mode OR old.amount IS DISTINCT FROM new.amount
  OR old.currency IS DISTINCT FROM new.currency
  OR old.planned_release_id IS DISTINCT FROM new.planned_release_id)
  EXECUTE FUNCTION refuse_change('an order costs what it was placed for');
CREATE TRIGGER paid_orders_are_frozen BEFORE UPDATE ON orders FOR EACH ROW WHEN (old.status = 'paid'
  AND old.* IS DISTINCT FROM new.* AND (new.email <> 'erased' OR new.email_salt IS NOT NULL
  OR new.shopper_details <> '{}'::jsonb
  OR (to_jsonb(old.*) - '{email,email_salt,shopper_details}'[]) IS DISTINCT FROM (to_jsonb(new.*) - '{email,email_salt,shopper_details}'[])))
  EXECUTE FUNCTION refuse_change('the order is paid');

-- One line of an order, with the description and the price that the shopper saw.
CREATE TABLE order_lines (
  order_id text NOT NULL,
  position integer NOT NULL,
  sku text,
  description text NOT NULL,
  unit_amount bigint NOT NULL,
  quantity integer NOT NULL,
  CONSTRAINT order_lines_pkey PRIMARY KEY (order_id, "position"),
  CONSTRAINT order_lines_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id),
  CONSTRAINT goods_cost_money CHECK (unit_amount > 0 OR sku IS NULL),
  CONSTRAINT order_lines_quantity_check CHECK (quantity > 0)
);
CREATE TRIGGER order_lines_are_frozen BEFORE DELETE OR UPDATE ON order_lines FOR EACH ROW
  EXECUTE FUNCTION refuse_change('the shopper saw these lines');
CREATE TRIGGER order_lines_are_not_emptied BEFORE TRUNCATE ON order_lines FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('the shopper saw these lines');
CREATE TRIGGER paid_orders_keep_their_lines BEFORE INSERT ON order_lines FOR EACH ROW
  EXECUTE FUNCTION refuse_line_of_paid_order();

-- One attempt to collect for an order: one reference, one initialize call on the wire, ever.
CREATE TABLE payments (
  reference text NOT NULL,
  order_id text NOT NULL,
  mode text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  -- created, sending, open, ambiguous, refused, paid, failed, expired or held.
  status text NOT NULL,
  checkout_url text,
  -- Why the service refused, or why the outcome is unknown: a word of ours. "adopted": a person gave it to its order.
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the poller asks verify next; null: not by itself any more.
  next_check_at timestamptz,
  -- Until when one process asks about it, and no other does. A killed process's row comes back then.
  leased_until timestamptz,
  checks integer NOT NULL DEFAULT 0,
  last_answer_at timestamptz,
  -- How many webhooks and returns came.
  hints integer NOT NULL DEFAULT 0,
  -- How many of them a check has answered. A hint during a check makes `hints` larger, so none is lost.
  hints_answered integer NOT NULL DEFAULT 0,
  last_hinted_at timestamptz,
  -- How many checks hints have caused without anything new: sets the pause before the next.
  hint_checks integer NOT NULL DEFAULT 0,
  -- Counts changes of this payment's items in suspense: a decision that read an older number is taken anew.
  suspense_changes integer NOT NULL DEFAULT 0,
  -- When a person decided about its money. From then on it never pays an order.
  decided_at timestamptz,
  -- Until when hints cause no check, because the service asked for it (Retry-After).
  silent_until timestamptz,
  CONSTRAINT payments_pkey PRIMARY KEY (reference),
  CONSTRAINT payments_reference_order_id_mode_amount_currency_key UNIQUE (reference, order_id, mode, amount,
    currency),
  CONSTRAINT payments_order_id_mode_amount_currency_fkey FOREIGN KEY (order_id, mode, amount, currency)
    REFERENCES orders(id, mode, amount, currency),
  CONSTRAINT decided_money_pays_nothing CHECK (status <> 'paid' OR decided_at IS NULL),
  CONSTRAINT open_has_an_address CHECK (status <> 'open' OR checkout_url IS NOT NULL),
  CONSTRAINT payments_reference_check CHECK (reference ~ '^[A-Za-z0-9]{24}$'),
  CONSTRAINT payments_status_check CHECK (status IN ('created', 'sending', 'open', 'ambiguous', 'refused',
    'paid', 'failed', 'expired', 'held'))
);
CREATE INDEX payments_by_time ON payments USING brin (created_at);
CREATE INDEX payments_due ON payments USING btree (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX payments_of_order ON payments USING btree (order_id);
CREATE TRIGGER held_payments_move_by_answers AFTER UPDATE OF status ON payments FOR EACH ROW
  WHEN (old.status = 'held' AND new.status <> 'held') EXECUTE FUNCTION refuse_move_without_answer();
CREATE TRIGGER order_follows_payments AFTER UPDATE OF status ON payments FOR EACH ROW
  WHEN (old.status <> new.status AND new.status <> 'paid' AND (new.status <> 'open'
  OR old.status = 'held') AND new.reason IS DISTINCT FROM 'key-refused')
  EXECUTE FUNCTION order_follows_payments();
CREATE CONSTRAINT TRIGGER paid_payments_are_released AFTER INSERT
  OR UPDATE OF status ON payments DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.status = 'paid')
  EXECUTE FUNCTION refuse_paid_without_release();
CREATE TRIGGER paid_payments_stay_paid BEFORE UPDATE OF status ON payments FOR EACH ROW
  WHEN (old.status = 'paid' AND new.status <> 'paid')
  EXECUTE FUNCTION refuse_change('the payment is paid');
CREATE TRIGGER payment_heeds_decisions BEFORE INSERT ON payments FOR EACH ROW
  EXECUTE FUNCTION payment_heeds_decisions();
CREATE TRIGGER payments_are_not_emptied BEFORE TRUNCATE ON payments FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('money may come for them');
CREATE TRIGGER payments_are_of_one_order BEFORE UPDATE OF reference, order_id, mode, amount,
  currency ON payments FOR EACH ROW WHEN (old.reference IS DISTINCT FROM new.reference
  OR old.order_id IS DISTINCT FROM new.order_id OR old.mode IS DISTINCT FROM new.mode
  OR old.amount IS DISTINCT FROM new.amount OR old.currency IS DISTINCT FROM new.currency)
  EXECUTE FUNCTION refuse_change('the service was asked for this payment');
CREATE TRIGGER payments_stay BEFORE DELETE ON payments FOR EACH ROW
  EXECUTE FUNCTION refuse_change('money may come for it');
CREATE TRIGGER payments_stay_decided BEFORE UPDATE OF decided_at ON payments FOR EACH ROW
  WHEN (old.decided_at IS NOT NULL AND new.decided_at IS NULL)
  EXECUTE FUNCTION refuse_change('a person has decided about its money');

-- One stored answer of verify: the evidence. Written once.
CREATE TABLE verifications (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  reference text NOT NULL,
  order_id text NOT NULL,
  mode text NOT NULL,
  outcome text NOT NULL,
  -- The answer's own word.
  status_word text,
  amount bigint,
  currency text,
  http_status integer NOT NULL,
  -- The answer itself. Its digest stays when it is pruned.
  body bytea,
  body_sha256 bytea NOT NULL,
  -- What made us ask: return, webhook, hint (of any kind), schedule, reconciliation or operator.
  cause text NOT NULL,
  answered_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT verifications_pkey PRIMARY KEY (id),
  CONSTRAINT verifications_id_order_id_reference_mode_amount_currency_ou_key UNIQUE (id, order_id,
    reference, mode, amount, currency, outcome),
  CONSTRAINT verifications_reference_fkey FOREIGN KEY (reference) REFERENCES payments(reference),
  CONSTRAINT paid_is_proven CHECK (outcome <> 'paid' OR amount IS NOT NULL AND currency IS NOT NULL),
  CONSTRAINT verifications_cause_check CHECK (cause IN ('return', 'webhook', 'hint', 'schedule',
    'reconciliation', 'operator')) NOT VALID,
  CONSTRAINT verifications_outcome_check CHECK (outcome IN ('paid', 'pending', 'failed', 'expired',
    'reversed', 'underpaid', 'overpaid', 'unit_error', 'currency_mismatch', 'mode_mismatch',
    'reference_mismatch', 'unknown_status', 'unproven', 'not_found', 'unreadable'))
);
CREATE INDEX verifications_of_payment ON verifications USING btree (reference, id);
CREATE INDEX verifications_of_unit_errors ON verifications USING btree (mode, id)
  WHERE outcome = 'unit_error';
CREATE INDEX verifications_that_closed ON verifications USING btree (reference, id)
  WHERE outcome IN ('failed', 'expired');
CREATE TRIGGER evidence_of_findings_stays BEFORE UPDATE OF body ON verifications FOR EACH ROW
  WHEN (old.body IS DISTINCT FROM new.body) EXECUTE FUNCTION keep_evidence_of_findings();
CREATE TRIGGER verifications_are_frozen BEFORE UPDATE ON verifications FOR EACH ROW
  WHEN (old.id IS DISTINCT FROM new.id OR old.reference IS DISTINCT FROM new.reference
  OR old.order_id IS DISTINCT FROM new.order_id OR old.mode IS DISTINCT FROM new.mode
  OR old.outcome IS DISTINCT FROM new.outcome OR old.status_word IS DISTINCT FROM new.status_word
  OR old.amount IS DISTINCT FROM new.amount OR old.currency IS DISTINCT FROM new.currency
  OR old.http_status IS DISTINCT FROM new.http_status OR old.body_sha256 IS DISTINCT FROM new.body_sha256
  OR old.cause IS DISTINCT FROM new.cause OR old.answered_at IS DISTINCT FROM new.answered_at
  OR new.body IS NOT NULL) EXECUTE FUNCTION refuse_change('evidence is not rewritten');
CREATE TRIGGER verifications_stay BEFORE DELETE ON verifications FOR EACH ROW
  EXECUTE FUNCTION refuse_change('evidence is kept');

-- The value given for a paid order, at most one. Its foreign keys tie it to the payment and to the evidence.
CREATE TABLE releases (
  -- The same in every delivery: the receiver ships once per id.
  id text NOT NULL,
  order_id text NOT NULL,
  reference text NOT NULL,
  mode text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  -- paid; null: a person accepted what came.
  outcome text DEFAULT 'paid',
  verification_id bigint NOT NULL,
  released_at timestamptz NOT NULL DEFAULT now(),
  -- unneeded (no receiver), waiting, delivered, dead (given up) or withheld (its money went back); a person may send
  -- the last two.
  delivery text NOT NULL,
  -- When it is delivered next.
  next_check_at timestamptz,
  leased_until timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  delivered_at timestamptz,
  last_error text,
  -- When the three days of attempts began.
  tried_since timestamptz,
  asked_again_at timestamptz,
  -- What is delivered, byte for byte.
  message text,
  acceptance_id bigint,
  CONSTRAINT releases_pkey PRIMARY KEY (id),
  CONSTRAINT releases_id_order_id_key UNIQUE (id, order_id),
  CONSTRAINT releases_mode_reference_key UNIQUE (mode, reference),
  CONSTRAINT releases_order_id_key UNIQUE (order_id),
  CONSTRAINT released_for_its_payment FOREIGN KEY (reference, order_id, mode, amount, currency)
    REFERENCES payments(reference, order_id, mode, amount, currency),
  CONSTRAINT released_on_acceptance FOREIGN KEY (acceptance_id, order_id, reference, mode, verification_id)
    REFERENCES acceptances(id, order_id, reference, mode, verification_id),
  CONSTRAINT released_on_evidence FOREIGN KEY (verification_id, order_id, reference, mode, amount, currency,
    outcome) REFERENCES verifications(id, order_id, reference, mode, amount, currency, outcome),
  CONSTRAINT released_on_one_proof CHECK ((outcome IS NULL) = (acceptance_id IS NOT NULL)),
  CONSTRAINT releases_delivery_check CHECK (delivery IN ('unneeded', 'waiting', 'delivered', 'dead',
    'withheld')),
  CONSTRAINT releases_outcome_check CHECK (outcome = 'paid')
);
CREATE INDEX releases_by_time ON releases USING btree (released_at DESC, id DESC);
CREATE INDEX releases_due ON releases USING btree (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX releases_undelivered ON releases USING btree (released_at, id) WHERE delivery IN ('waiting',
  'dead');
CREATE INDEX releases_unsent ON releases USING btree (released_at, id) WHERE delivery = 'unneeded';
CREATE INDEX releases_withheld ON releases USING btree (released_at, id) WHERE delivery = 'withheld';
CREATE TRIGGER cancelled_orders_get_nothing BEFORE INSERT ON releases FOR EACH ROW
  EXECUTE FUNCTION refuse_cancelled_orders();
CREATE TRIGGER decided_money_pays_nothing BEFORE INSERT ON releases FOR EACH ROW
  EXECUTE FUNCTION refuse_decided_money();
CREATE TRIGGER release_acceptances_are_frozen BEFORE UPDATE OF acceptance_id ON releases FOR EACH ROW
  WHEN (old.acceptance_id IS DISTINCT FROM new.acceptance_id)
  EXECUTE FUNCTION refuse_change('a release is for ever');
CREATE TRIGGER release_messages_are_frozen BEFORE UPDATE OF message ON releases FOR EACH ROW
  WHEN (old.message IS NOT NULL AND new.message IS NOT NULL AND old.message <> new.message)
  EXECUTE FUNCTION refuse_change('a receiver may have this message already');
CREATE TRIGGER releases_are_frozen BEFORE UPDATE ON releases FOR EACH ROW
  WHEN (old.id IS DISTINCT FROM new.id OR old.order_id IS DISTINCT FROM new.order_id
  OR old.reference IS DISTINCT FROM new.reference OR old.mode IS DISTINCT FROM new.mode
  OR old.amount IS DISTINCT FROM new.amount OR old.currency IS DISTINCT FROM new.currency
  OR old.outcome IS DISTINCT FROM new.outcome OR old.verification_id IS DISTINCT FROM new.verification_id
  OR old.released_at IS DISTINCT FROM new.released_at)
  EXECUTE FUNCTION refuse_change('a release is for ever');
CREATE TRIGGER releases_stay BEFORE DELETE ON releases FOR EACH ROW
  EXECUTE FUNCTION refuse_change('a release is for ever');

-- Money given back for a paid order, written down by the shop. Written once; their sum is never above what was paid.
CREATE TABLE refunds (
  id text NOT NULL,
  order_id text NOT NULL,
  mode text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  reason text NOT NULL,
  -- The shop's or the service's number of the refund.
  external_id text,
  -- A person's name, or `shop` for a call of the shop's own system.
  refunded_by text NOT NULL,
  refunded_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT refunds_pkey PRIMARY KEY (id),
  CONSTRAINT refunds_mode_order_id_external_id_key UNIQUE (mode, order_id, external_id),
  CONSTRAINT refunds_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id),
  CONSTRAINT refunds_amount_check CHECK (amount > 0),
  CONSTRAINT refunds_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
  CONSTRAINT refunds_id_check CHECK (id ~ '^re_[A-Za-z0-9]{24}$'),
  CONSTRAINT refunds_mode_check CHECK (mode IN ('test', 'live'))
);
CREATE INDEX refunds_by_number ON refunds USING btree (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX refunds_by_time ON refunds USING btree (refunded_at DESC, id DESC);
CREATE INDEX refunds_of_order ON refunds USING btree (order_id);
CREATE TRIGGER refund_withholds_release AFTER INSERT ON refunds FOR EACH ROW
  EXECUTE FUNCTION refund_withholds_release();
CREATE TRIGGER refund_writes_event AFTER INSERT ON refunds FOR EACH ROW
  EXECUTE FUNCTION refund_writes_event();
CREATE TRIGGER refunds_are_frozen BEFORE DELETE OR UPDATE ON refunds FOR EACH ROW
  EXECUTE FUNCTION refuse_change('what was given back is kept');
CREATE TRIGGER refunds_are_not_emptied BEFORE TRUNCATE ON refunds FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('what was given back is kept');
CREATE TRIGGER refunds_are_of_what_was_paid BEFORE INSERT ON refunds FOR EACH ROW
  EXECUTE FUNCTION refuse_refund();

-- What became of an order beside being paid, or of money in suspense, written by triggers in its transaction.
CREATE TABLE events (
  id text NOT NULL,
  -- The order of happening.
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  type text NOT NULL,
  mode text NOT NULL,
  -- Null: money in suspense that is of no order here.
  order_id text,
  reference text,
  -- Whether the order's release was there already.
  after_release boolean NOT NULL,
  -- As it was then. Amounts are texts in minor units.
  data jsonb NOT NULL,
  happened_at timestamptz NOT NULL DEFAULT now(),
  -- As in releases. unneeded: its type was not wanted.
  delivery text NOT NULL,
  next_check_at timestamptz,
  leased_until timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  delivered_at timestamptz,
  last_error text,
  tried_since timestamptz,
  asked_again_at timestamptz,
  asked_again_by text,
  message text,
  CONSTRAINT events_pkey PRIMARY KEY (id),
  CONSTRAINT events_seq_key UNIQUE (seq),
  CONSTRAINT events_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id),
  CONSTRAINT events_delivery_check CHECK (delivery IN ('unneeded', 'waiting', 'delivered', 'dead')),
  CONSTRAINT events_id_check CHECK (id ~ '^evt_[A-Za-z0-9]{24}$'),
  CONSTRAINT events_mode_check CHECK (mode IN ('test', 'live')),
  CONSTRAINT events_type_check CHECK (type IN ('order.review', 'order.failed', 'order.expired',
    'order.cancelled', 'order.reopened', 'order.refunded', 'order.reversed', 'suspense.opened'))
);
CREATE INDEX events_due ON events USING btree (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX events_of_order ON events USING btree (order_id, seq);
CREATE INDEX events_undelivered ON events USING btree (seq) WHERE delivery IN ('waiting', 'dead');
CREATE INDEX events_unsent ON events USING btree (mode, type, seq) WHERE delivery = 'unneeded';
CREATE INDEX events_waiting ON events USING btree (order_id, seq) WHERE delivery = 'waiting';
CREATE TRIGGER event_messages_are_frozen BEFORE UPDATE OF message ON events FOR EACH ROW
  WHEN (old.message IS NOT NULL AND new.message IS NOT NULL AND old.message <> new.message)
  EXECUTE FUNCTION refuse_change('a receiver may have this message already');
CREATE TRIGGER events_are_frozen BEFORE UPDATE ON events FOR EACH ROW WHEN (old.id IS DISTINCT FROM new.id
  OR old.seq IS DISTINCT FROM new.seq OR old.type IS DISTINCT FROM new.type
  OR old.mode IS DISTINCT FROM new.mode OR old.order_id IS DISTINCT FROM new.order_id
  OR old.reference IS DISTINCT FROM new.reference OR old.after_release IS DISTINCT FROM new.after_release
  OR old.data IS DISTINCT FROM new.data OR old.happened_at IS DISTINCT FROM new.happened_at)
  EXECUTE FUNCTION refuse_change('an event has happened');
CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON events FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('an event has happened');
CREATE TRIGGER events_stay BEFORE DELETE ON events FOR EACH ROW
  EXECUTE FUNCTION refuse_change('an event has happened');

-- The types of events that the worker which started last delivers.
CREATE TABLE wanted_events (
  mode text NOT NULL,
  type text NOT NULL,
  CONSTRAINT wanted_events_pkey PRIMARY KEY (mode, type),
  CONSTRAINT wanted_events_mode_check CHECK (mode IN ('test', 'live'))
);

-- That a person accepted what came, less or more than was asked for: the proof of its release.
CREATE TABLE acceptances (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  order_id text NOT NULL,
  reference text NOT NULL,
  mode text NOT NULL,
  verification_id bigint NOT NULL,
  -- underpaid or overpaid.
  outcome text NOT NULL,
  -- What came, in minor units.
  amount bigint NOT NULL,
  currency text NOT NULL,
  accepted_by text NOT NULL,
  note text NOT NULL,
  accepted_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT acceptances_pkey PRIMARY KEY (id),
  CONSTRAINT acceptances_id_order_id_reference_mode_verification_id_key UNIQUE (id, order_id, reference,
    mode, verification_id),
  CONSTRAINT acceptances_mode_reference_key UNIQUE (mode, reference),
  CONSTRAINT acceptances_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id),
  CONSTRAINT acceptances_verification_id_order_id_reference_mode_amount_fkey FOREIGN KEY (verification_id,
    order_id, reference, mode, amount, currency, outcome) REFERENCES verifications(id, order_id, reference,
    mode, amount, currency, outcome),
  CONSTRAINT acceptances_amount_check CHECK (amount > 0),
  CONSTRAINT acceptances_outcome_check CHECK (outcome IN ('underpaid', 'overpaid')),
  CONSTRAINT accepted_by_a_person CHECK (accepted_by NOT IN ('', 'confirmation', 'reconciliation'))
);
CREATE TRIGGER acceptances_stay BEFORE DELETE OR UPDATE ON acceptances FOR EACH ROW
  EXECUTE FUNCTION refuse_change('a release rests on it');

-- A call of the service at our door, stored before it is answered. The same body again is the same row.
CREATE TABLE webhooks (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  body_sha256 bytea NOT NULL,
  body bytea NOT NULL,
  -- Of the key under which its latest delivery came.
  mode text NOT NULL,
  content_type text NOT NULL DEFAULT '',
  -- signed or unsigned.
  authenticity text NOT NULL,
  reference text,
  -- hinted: it named a payment of ours, which is now due. ignored: it did not.
  outcome text NOT NULL,
  deliveries integer NOT NULL DEFAULT 1,
  received_at timestamptz NOT NULL DEFAULT now(),
  last_received_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT webhooks_pkey PRIMARY KEY (id),
  CONSTRAINT webhooks_body_sha256_key UNIQUE (body_sha256),
  CONSTRAINT webhooks_authenticity_check CHECK (authenticity IN ('signed', 'unsigned')),
  CONSTRAINT webhooks_mode_check CHECK (mode IN ('test', 'live')),
  CONSTRAINT webhooks_outcome_check CHECK (outcome IN ('hinted', 'ignored'))
);
CREATE INDEX webhooks_of_reference ON webhooks USING btree (reference) WHERE reference IS NOT NULL;
CREATE TRIGGER evidence_of_findings_is_not_deleted BEFORE DELETE ON webhooks FOR EACH ROW
  EXECUTE FUNCTION keep_evidence_of_findings();
CREATE TRIGGER evidence_of_findings_stays BEFORE UPDATE OF body ON webhooks FOR EACH ROW
  WHEN (old.body IS DISTINCT FROM new.body) EXECUTE FUNCTION keep_evidence_of_findings();

-- Webhooks that were refused: their number by minute, and the newest few.
CREATE TABLE refused_webhooks (
  minute timestamptz NOT NULL,
  mode text NOT NULL,
  -- bad-signature, malformed or too-many.
  reason text NOT NULL,
  times integer NOT NULL,
  last_at timestamptz NOT NULL DEFAULT now(),
  -- [{at, address, reference}], newest first.
  samples jsonb NOT NULL DEFAULT '[]'::jsonb,
  CONSTRAINT refused_webhooks_pkey PRIMARY KEY (minute, mode, reason),
  CONSTRAINT refused_webhooks_mode_check CHECK (mode IN ('test', 'live')),
  CONSTRAINT refused_webhooks_reason_check CHECK (reason IN ('bad-signature', 'malformed', 'too-many')),
  CONSTRAINT refused_webhooks_times_check CHECK (times > 0)
);

-- Money that the shop holds and has not earned: duplicate, surplus, late, orphan. Ends by a decision.
CREATE TABLE suspense_items (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  mode text NOT NULL,
  class text NOT NULL,
  reference text NOT NULL,
  order_id text,
  verification_id bigint,
  amount bigint NOT NULL,
  currency text NOT NULL,
  opened_at timestamptz NOT NULL DEFAULT now(),
  owner text,
  assigned_at timestamptz,
  assigned_by text,
  closed_at timestamptz,
  -- A name, or `confirmation` when the money paid an order after all.
  closed_by text,
  decision text,
  note text,
  -- Where a refund can be found: the number of the service or of the bank.
  refund_note text,
  -- The number of a refund of the surplus alone; the item stays open until the service shows the rest.
  surplus_refund text,
  -- When a person was alerted to it; null: not yet.
  alerted_at timestamptz,
  CONSTRAINT suspense_items_pkey PRIMARY KEY (id),
  CONSTRAINT suspense_items_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id),
  CONSTRAINT suspense_items_verification_id_fkey FOREIGN KEY (verification_id) REFERENCES verifications(id),
  CONSTRAINT assigned_needs_a_name CHECK (assigned_at IS NULL OR owner IS NOT NULL
    AND assigned_by IS NOT NULL),
  CONSTRAINT closed_needs_a_decision CHECK ((closed_at IS NULL) = (decision IS NULL)),
  CONSTRAINT closed_needs_a_name CHECK ((closed_at IS NULL) = (closed_by IS NULL)),
  CONSTRAINT decision_is_known CHECK (decision IN ('refund', 'credit', 'keep', 'write_off', 'other',
    'accept', 'earned')),
  CONSTRAINT earned_by_confirmation CHECK ((decision = 'earned') = (closed_by = 'confirmation')),
  CONSTRAINT refund_has_a_number CHECK (decision IS DISTINCT FROM 'refund' OR btrim(refund_note) <> ''
    AND refund_note IS NOT NULL) NOT VALID,
  CONSTRAINT refund_note_of_a_refund CHECK (refund_note IS NULL OR COALESCE(decision, '') = 'refund'),
  CONSTRAINT surplus_goes_back_once CHECK (surplus_refund IS NULL OR decision IS NULL
    OR (decision NOT IN ('credit', 'keep', 'write_off'))) NOT VALID,
  CONSTRAINT suspense_items_amount_check CHECK (amount > 0),
  CONSTRAINT suspense_items_mode_check CHECK (mode IN ('test', 'live'))
);
CREATE INDEX suspense_by_reference ON suspense_items USING btree (mode, reference);
CREATE INDEX suspense_of_order ON suspense_items USING btree (order_id) WHERE order_id IS NOT NULL;
CREATE UNIQUE INDEX suspense_open ON suspense_items USING btree (mode, reference) WHERE closed_at IS NULL;
CREATE INDEX suspense_unalerted ON suspense_items USING btree (mode, id) WHERE alerted_at IS NULL
  AND closed_at IS NULL;
CREATE TRIGGER suspense_changes AFTER UPDATE ON suspense_items FOR EACH ROW
  WHEN (old.class IS DISTINCT FROM new.class OR old.amount IS DISTINCT FROM new.amount
  OR old.currency IS DISTINCT FROM new.currency OR old.closed_at IS DISTINCT FROM new.closed_at)
  EXECUTE FUNCTION payment_follows_suspense();
CREATE TRIGGER suspense_is_frozen BEFORE UPDATE ON suspense_items FOR EACH ROW
  WHEN (old.closed_at IS NOT NULL OR old.id IS DISTINCT FROM new.id OR old.mode IS DISTINCT FROM new.mode
  OR old.reference IS DISTINCT FROM new.reference OR COALESCE(old.order_id,
  new.order_id) IS DISTINCT FROM new.order_id OR old.opened_at IS DISTINCT FROM new.opened_at)
  EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
CREATE TRIGGER suspense_is_not_emptied BEFORE TRUNCATE ON suspense_items FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
CREATE TRIGGER suspense_opens AFTER INSERT ON suspense_items FOR EACH ROW
  EXECUTE FUNCTION payment_follows_suspense();
CREATE TRIGGER suspense_stays BEFORE DELETE ON suspense_items FOR EACH ROW
  EXECUTE FUNCTION refuse_change('money in suspense is accounted for');
CREATE TRIGGER suspense_writes_event AFTER INSERT ON suspense_items FOR EACH ROW
  EXECUTE FUNCTION suspense_writes_event();

-- What an operator wrote about an item in suspense.
CREATE TABLE suspense_notes (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  item_id bigint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  written_by text NOT NULL,
  note text NOT NULL,
  CONSTRAINT suspense_notes_pkey PRIMARY KEY (id),
  CONSTRAINT suspense_notes_item_id_fkey FOREIGN KEY (item_id) REFERENCES suspense_items(id)
);
CREATE INDEX suspense_notes_of_item ON suspense_notes USING btree (item_id, id);
CREATE TRIGGER suspense_notes_stay BEFORE DELETE OR UPDATE ON suspense_notes FOR EACH ROW
  EXECUTE FUNCTION refuse_change('notes of suspense are kept');

-- A currency in which no checkout opens, because two payments showed money in another unit, until a person resumes it.
CREATE TABLE currency_stops (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  mode text NOT NULL,
  currency text NOT NULL,
  reference text NOT NULL,
  verification_id bigint NOT NULL,
  stopped_at timestamptz NOT NULL DEFAULT now(),
  released_at timestamptz,
  released_by text,
  note text,
  CONSTRAINT currency_stops_pkey PRIMARY KEY (id),
  CONSTRAINT currency_stops_reference_fkey FOREIGN KEY (reference) REFERENCES payments(reference),
  CONSTRAINT currency_stops_verification_id_fkey FOREIGN KEY (verification_id) REFERENCES verifications(id),
  CONSTRAINT currency_stops_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
  CONSTRAINT currency_stops_mode_check CHECK (mode IN ('test', 'live')),
  CONSTRAINT released_needs_a_name CHECK ((released_at IS NULL) = (released_by IS NULL))
);
CREATE UNIQUE INDEX currency_stops_open ON currency_stops USING btree (mode, currency)
  WHERE released_at IS NULL;

-- New checkouts that a person or the shop's own system has stopped. `currency` is `*` for all of them.
CREATE TABLE checkout_stops (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  mode text NOT NULL,
  currency text NOT NULL,
  reason text NOT NULL,
  stopped_at timestamptz NOT NULL DEFAULT now(),
  stopped_by text NOT NULL,
  resumed_at timestamptz,
  resumed_by text,
  note text,
  CONSTRAINT checkout_stops_pkey PRIMARY KEY (id),
  CONSTRAINT checkout_stops_currency_check CHECK (currency ~ '^([A-Z]{3}|\*)$'),
  CONSTRAINT checkout_stops_mode_check CHECK (mode IN ('test', 'live')),
  CONSTRAINT resumed_needs_a_name CHECK ((resumed_at IS NULL) = (resumed_by IS NULL))
);
CREATE UNIQUE INDEX checkout_stops_open ON checkout_stops USING btree (mode, currency)
  WHERE resumed_at IS NULL;

-- One comparison of our orders with the service's history. `inputs` and `outcome` allow to compose its report again.
CREATE TABLE reconciliation_runs (
  id text NOT NULL,
  mode text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  since timestamptz,
  until timestamptz,
  complete boolean,
  -- agreed, findings or incomplete.
  verdict text,
  -- Why it did not end, or is not complete.
  problem text,
  inputs jsonb,
  outcome jsonb,
  items_sha256 bytea,
  report jsonb,
  -- Digest of the report as it was printed.
  report_sha256 bytea,
  CONSTRAINT reconciliation_runs_pkey PRIMARY KEY (id),
  CONSTRAINT reconciliation_runs_items_sha256_fkey FOREIGN KEY (items_sha256)
    REFERENCES reconciliation_items(sha256),
  CONSTRAINT reconciliation_runs_mode_check CHECK (mode IN ('test', 'live')),
  CONSTRAINT reconciliation_runs_verdict_check CHECK (verdict IN ('agreed', 'findings', 'incomplete'))
);
CREATE INDEX reconciliation_runs_by_time ON reconciliation_runs USING btree (started_at DESC);

-- The findings that a run printed, stored once for all runs that printed the same.
CREATE TABLE reconciliation_items (
  sha256 bytea NOT NULL,
  items jsonb NOT NULL,
  CONSTRAINT reconciliation_items_pkey PRIMARY KEY (sha256)
);

-- How far the running reconciliation has read the history: a crash resumes from here.
CREATE TABLE history_checkpoints (
  mode text NOT NULL,
  question text NOT NULL,
  started_at timestamptz NOT NULL,
  state jsonb NOT NULL,
  CONSTRAINT history_checkpoints_pkey PRIMARY KEY (mode),
  CONSTRAINT history_checkpoints_mode_check CHECK (mode IN ('test', 'live'))
);

-- References that the last whole list held: a later list that lacks them all was cut.
CREATE TABLE history_sentinels (
  mode text NOT NULL,
  reference text NOT NULL,
  list_length bigint NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT history_sentinels_pkey PRIMARY KEY (mode, reference),
  CONSTRAINT history_sentinels_mode_check CHECK (mode IN ('test', 'live'))
);

-- When verify last confirmed a paid payment that the history lacks: it is not asked about at every run.
CREATE TABLE confirmed_payments (
  mode text NOT NULL,
  reference text NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT confirmed_payments_pkey PRIMARY KEY (mode, reference),
  CONSTRAINT confirmed_payments_mode_check CHECK (mode IN ('test', 'live'))
);

-- That reconciliation of a mode begins now, said by a person: what is before is counted and never a finding.
CREATE TABLE reconciliation_begins (
  mode text NOT NULL,
  -- When the list was begun that it read.
  begun_at timestamptz NOT NULL,
  begun_by text NOT NULL,
  note text NOT NULL,
  run_id text NOT NULL,
  CONSTRAINT reconciliation_begins_pkey PRIMARY KEY (mode, begun_at),
  CONSTRAINT reconciliation_begins_run_id_fkey FOREIGN KEY (run_id) REFERENCES reconciliation_runs(id),
  CONSTRAINT reconciliation_begins_mode_check CHECK (mode IN ('test', 'live'))
);
CREATE TRIGGER begins_stay BEFORE DELETE OR UPDATE ON reconciliation_begins FOR EACH ROW
  EXECUTE FUNCTION refuse_change('who began reconciliation is kept');

-- A transaction that is not ours, or a payment of ours that the list lacked, when reconciliation began.
CREATE TABLE before_begin (
  mode text NOT NULL,
  reference text NOT NULL,
  begun_at timestamptz NOT NULL,
  -- What the list showed of a transaction that is not ours: its status, how many charges, and the money.
  there text,
  charges integer,
  -- Minor units.
  amount bigint,
  currency text,
  CONSTRAINT before_begin_pkey PRIMARY KEY (mode, reference),
  CONSTRAINT before_begin_mode_begun_at_fkey FOREIGN KEY (mode, begun_at)
    REFERENCES reconciliation_begins(mode, begun_at)
);
CREATE INDEX before_begin_by_begin ON before_begin USING btree (mode, begun_at);

-- A disagreement between our orders and the service, until it is resolved or seen no more.
CREATE TABLE findings (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  mode text NOT NULL,
  class text NOT NULL,
  reference text NOT NULL,
  order_id text,
  currency text,
  -- Minor units here, `actual` there.
  expected bigint,
  actual bigint,
  -- What each source said when it was last seen.
  evidence jsonb,
  first_run_id text NOT NULL,
  last_run_id text NOT NULL,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  -- Null while it may resolve itself: some classes are raised after an hour.
  raised_at timestamptz DEFAULT now(),
  owner text,
  assigned_at timestamptz,
  assigned_by text,
  closed_at timestamptz,
  -- A name, or `reconciliation` when a later run no longer saw it.
  closed_by text,
  note text,
  -- The finding about the same that was closed before.
  reopens bigint,
  gone_at timestamptz,
  -- Of several charges that a person decided about: when a run first saw nothing but the one that paid.
  nothing_left_at timestamptz,
  CONSTRAINT findings_pkey PRIMARY KEY (id),
  CONSTRAINT findings_first_run_id_fkey FOREIGN KEY (first_run_id) REFERENCES reconciliation_runs(id),
  CONSTRAINT findings_last_run_id_fkey FOREIGN KEY (last_run_id) REFERENCES reconciliation_runs(id),
  CONSTRAINT findings_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id),
  CONSTRAINT findings_reopens_fkey FOREIGN KEY (reopens) REFERENCES findings(id),
  CONSTRAINT assigned_needs_a_name CHECK (assigned_at IS NULL OR owner IS NOT NULL
    AND assigned_by IS NOT NULL),
  CONSTRAINT closed_needs_a_name CHECK ((closed_at IS NULL) = (closed_by IS NULL)),
  CONSTRAINT findings_mode_check CHECK (mode IN ('test', 'live'))
);
CREATE INDEX findings_of_order ON findings USING btree (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX findings_of_reference ON findings USING btree (reference);
CREATE UNIQUE INDEX findings_open ON findings USING btree (mode, class, reference) WHERE closed_at IS NULL;
CREATE INDEX findings_open_in_order ON findings USING btree (mode, id) WHERE closed_at IS NULL;
CREATE TRIGGER findings_are_frozen BEFORE UPDATE ON findings FOR EACH ROW WHEN (old.closed_at IS NOT NULL
  AND (to_jsonb(old.*) - 'gone_at' - 'nothing_left_at') IS DISTINCT FROM (to_jsonb(new.*) - 'gone_at' - 'nothing_left_at'))
  EXECUTE FUNCTION refuse_change('findings are kept');
CREATE TRIGGER findings_are_not_emptied BEFORE TRUNCATE ON findings FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('findings are kept');
CREATE TRIGGER findings_stay BEFORE DELETE ON findings FOR EACH ROW
  EXECUTE FUNCTION refuse_change('findings are kept');
CREATE TRIGGER reversal_changes_write_event AFTER UPDATE ON findings FOR EACH ROW
  WHEN (new.class = 'reversed' AND new.order_id IS NOT NULL AND new.raised_at IS NOT NULL
  AND new.closed_at IS NULL AND (old.raised_at IS NULL OR old.expected IS DISTINCT FROM new.expected
  OR old.actual IS DISTINCT FROM new.actual)) EXECUTE FUNCTION reversal_writes_event();
CREATE TRIGGER reversal_writes_event AFTER INSERT ON findings FOR EACH ROW WHEN (new.class = 'reversed'
  AND new.order_id IS NOT NULL AND new.raised_at IS NOT NULL) EXECUTE FUNCTION reversal_writes_event();

-- What an operator wrote about a finding.
CREATE TABLE finding_notes (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  finding_id bigint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  written_by text NOT NULL,
  note text NOT NULL,
  CONSTRAINT finding_notes_pkey PRIMARY KEY (id),
  CONSTRAINT finding_notes_finding_id_fkey FOREIGN KEY (finding_id) REFERENCES findings(id)
);
CREATE INDEX finding_notes_of_finding ON finding_notes USING btree (finding_id, id);
CREATE TRIGGER finding_notes_stay BEFORE DELETE OR UPDATE ON finding_notes FOR EACH ROW
  EXECUTE FUNCTION refuse_change('notes of findings are kept');

-- What happened to an order, append-only and numbered without gaps. Each entry's hash covers the one before.
CREATE TABLE journal (
  order_id text NOT NULL,
  seq integer NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  event text NOT NULL,
  reference text,
  cause text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}'::jsonb,
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT journal_pkey PRIMARY KEY (order_id, seq),
  CONSTRAINT journal_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id)
);
CREATE INDEX journal_by_people ON journal USING btree (at, order_id, seq) WHERE cause ~~ 'operator:%';
CREATE TRIGGER journal_append BEFORE INSERT ON journal FOR EACH ROW EXECUTE FUNCTION journal_append();
CREATE TRIGGER journal_is_append_only BEFORE DELETE OR UPDATE ON journal FOR EACH ROW
  EXECUTE FUNCTION refuse_change('the journal is append-only');
CREATE TRIGGER journal_is_not_emptied BEFORE TRUNCATE ON journal FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('the journal is append-only');

-- A client's key of a request, so that a repeated request gets the same order.
CREATE TABLE idempotency_keys (
  mode text NOT NULL,
  key text NOT NULL,
  -- Digest of the request: the same key with another request is refused.
  fingerprint bytea NOT NULL,
  order_id text NOT NULL,
  reference text,
  -- Until when the first request is worked on.
  locked_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (mode, key),
  CONSTRAINT idempotency_keys_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id),
  CONSTRAINT idempotency_keys_reference_fkey FOREIGN KEY (reference) REFERENCES payments(reference),
  CONSTRAINT idempotency_keys_key_check CHECK (length(key) >= 1 AND length(key) <= 255),
  CONSTRAINT idempotency_keys_mode_check CHECK (mode IN ('test', 'live'))
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

-- What was confirmed in an hour that is over, summed once, for pages that look at months.
CREATE TABLE confirmed_hours (
  mode text NOT NULL,
  hour timestamptz NOT NULL,
  currency text NOT NULL,
  found_by text NOT NULL,
  -- Seconds from the first webhook, in steps.
  waited integer NOT NULL,
  releases integer NOT NULL,
  amount numeric NOT NULL,
  CONSTRAINT confirmed_hours_pkey PRIMARY KEY (mode, hour, currency, found_by, waited),
  CONSTRAINT confirmed_hours_mode_check CHECK (mode IN ('test', 'live'))
);

-- Up to when hours have been summed.
CREATE TABLE confirmed_until (
  mode text NOT NULL,
  summed_until timestamptz NOT NULL,
  CONSTRAINT confirmed_until_pkey PRIMARY KEY (mode),
  CONSTRAINT confirmed_until_mode_check CHECK (mode IN ('test', 'live'))
);

-- A check of all hash chains and of the rows they speak of.
CREATE TABLE integrity_checks (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  started_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  orders bigint,
  contradictions bigint,
  -- The first contradictions found.
  first jsonb,
  CONSTRAINT integrity_checks_pkey PRIMARY KEY (id)
);

-- What the service lists as paid out to the shop's bank, as the runs saw it. Nothing is paid or confirmed by it.
CREATE TABLE transfers (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  mode text NOT NULL,
  reference text NOT NULL,
  currency text NOT NULL,
  -- Minor units, as first seen: a list that says something else later is reported and not believed.
  amount bigint NOT NULL,
  -- What it cost on top, in minor units; null: not named.
  fee bigint,
  status text NOT NULL,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  first_run_id text NOT NULL,
  -- When it was first seen as failed, expired or reversed: the money is in the balance again.
  returned_at timestamptz,
  -- When a whole list no longer had it; null while it is listed.
  gone_at timestamptz,
  CONSTRAINT transfers_pkey PRIMARY KEY (id),
  CONSTRAINT transfers_mode_reference_currency_key UNIQUE (mode, reference, currency),
  CONSTRAINT transfers_mode_check CHECK (mode IN ('test', 'live'))
);
CREATE INDEX transfers_by_time ON transfers USING btree (mode, first_seen_at, id);

-- Whole addresses of shoppers that left in the books: who took them, of which period, and why.
CREATE TABLE disclosures (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  mode text NOT NULL,
  disclosed_at timestamptz NOT NULL DEFAULT now(),
  disclosed_to text NOT NULL,
  note text NOT NULL,
  since timestamptz,
  until timestamptz,
  CONSTRAINT disclosures_pkey PRIMARY KEY (id),
  CONSTRAINT disclosures_mode_check CHECK (mode IN ('test', 'live'))
);
CREATE TRIGGER disclosures_are_frozen BEFORE DELETE OR UPDATE ON disclosures FOR EACH ROW
  EXECUTE FUNCTION refuse_change('what was disclosed is kept');
CREATE TRIGGER disclosures_are_not_emptied BEFORE TRUNCATE ON disclosures FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('what was disclosed is kept');

-- One row, made by its migration: the salt of the ids of releases that follow from a shop's own numbers.
CREATE TABLE installation (
  is_this boolean NOT NULL DEFAULT true,
  release_salt uuid NOT NULL DEFAULT gen_random_uuid(),
  CONSTRAINT installation_pkey PRIMARY KEY (is_this),
  CONSTRAINT installation_is_this_check CHECK (is_this)
);

-- When a worker of the mode last said that it runs.
CREATE TABLE worker_heartbeats (
  mode text NOT NULL,
  beaten_at timestamptz NOT NULL DEFAULT now(),
  -- Host and process.
  beaten_by text,
  CONSTRAINT worker_heartbeats_pkey PRIMARY KEY (mode),
  CONSTRAINT worker_heartbeats_mode_check CHECK (mode IN ('test', 'live'))
);

-- What people are told of: a state that holds or has ended, or a single event. Shared by all processes.
CREATE TABLE alert_states (
  mode text NOT NULL,
  event text NOT NULL,
  -- Which of several states of one event, such as a currency; mostly empty.
  key text NOT NULL,
  -- Another cause is another thing to tell.
  cause text NOT NULL,
  -- What is told.
  alert jsonb NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- When there was last something new to tell.
  news_at timestamptz NOT NULL DEFAULT now(),
  told_at timestamptz,
  -- When it is told next; null: it is over, and that was told.
  tell_at timestamptz,
  -- Counts what was to be told.
  changes integer NOT NULL DEFAULT 1,
  CONSTRAINT alert_states_pkey PRIMARY KEY (mode, event, key),
  CONSTRAINT alert_states_mode_check CHECK (mode IN ('test', 'live'))
);

CREATE VIEW accepted_surplus AS
 SELECT a.id,
    a.mode,
    a.order_id,
    a.reference,
    a.currency,
    r.amount,
    a.accepted_at,
    a.accepted_by
   FROM acceptances a
     JOIN releases r ON r.order_id = a.order_id AND r.acceptance_id = a.id
  WHERE a.amount > r.amount;

CREATE VIEW confirmed_money AS
 SELECT r.id,
    r.mode,
    r.order_id,
    r.reference,
    r.currency,
    r.released_at AS at,
    LEAST(r.amount, a.amount) AS amount,
    r.verification_id,
    true AS is_release
   FROM releases r
     LEFT JOIN acceptances a ON a.id = r.acceptance_id
UNION ALL
 SELECT (r.id || '+') || rest.id AS id,
    r.mode,
    r.order_id,
    r.reference,
    r.currency,
    GREATEST(rest.at, r.released_at) AS at,
    rest.amount - rest.before AS amount,
    rest.id AS verification_id,
    false AS is_release
   FROM acceptances a
     JOIN releases r ON r.order_id = a.order_id AND r.acceptance_id = a.id
     CROSS JOIN LATERAL ( SELECT grown.id,
            grown.at,
            grown.amount,
            grown.before,
            bool_or(grown.before::numeric <= (( SELECT COALESCE(sum(b.amount), 0::numeric) AS "coalesce"
                   FROM refunds b
                  WHERE b.order_id = a.order_id AND b.refunded_at <= grown.at))) OVER (ORDER BY grown.at, grown.id DESC ROWS UNBOUNDED PRECEDING) AS is_after_refund
           FROM ( SELECT shown.id,
                    shown.at,
                    shown.amount,
                    GREATEST(a.amount, max(shown.amount) OVER (ORDER BY shown.at, shown.id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS before
                   FROM ( SELECT v.id,
                            v.answered_at AS at,
                            LEAST(v.amount, r.amount) AS amount
                           FROM verifications v
                          WHERE v.reference = r.reference AND v.id > a.verification_id AND v.currency = r.currency AND (v.outcome IN ('paid', 'underpaid', 'overpaid'))
                        UNION ALL
                         SELECT a.verification_id,
                            i.opened_at,
                            r.amount
                           FROM suspense_items i
                          WHERE i.mode = r.mode AND i.reference = r.reference AND i.opened_at > a.accepted_at) shown) grown) rest
  WHERE a.amount < r.amount AND rest.amount > rest.before AND NOT rest.is_after_refund;

CREATE VIEW decided_money AS
 SELECT mode,
    reference,
    currency,
    amount,
    decision,
    closed_at AS decided_at,
    opened_at,
    verification_id
   FROM suspense_items
  WHERE closed_at IS NOT NULL AND (decision NOT IN ('earned', 'accept'));

CREATE VIEW ended_money AS
 SELECT i.id,
    i.mode,
    i.order_id,
    i.reference,
    i.currency,
    i.closed_at AS at,
    i.amount,
    i.decision,
    COALESCE(i.refund_note, i.surplus_refund) AS number,
    i.closed_by
   FROM suspense_items i
  WHERE i.closed_at IS NOT NULL
UNION ALL
 SELECT - a.id AS id,
    a.mode,
    a.order_id,
    a.reference,
    a.currency,
    a.accepted_at AS at,
    a.amount,
    'accept' AS decision,
    NULL::text AS number,
    a.accepted_by AS closed_by
   FROM accepted_surplus a;

CREATE VIEW held_money AS
 SELECT id,
    mode,
    order_id,
    reference,
    currency,
    opened_at AS at,
    class,
    amount + COALESCE(( SELECT a.amount
           FROM accepted_surplus a
          WHERE a.mode = i.mode AND a.reference = i.reference AND a.accepted_at >= i.opened_at AND a.accepted_at < COALESCE(i.closed_at, 'infinity'::timestamptz)), 0::bigint) AS amount
   FROM suspense_items i;

CREATE VIEW payouts AS
 SELECT id,
    mode,
    NULL::text AS order_id,
    reference,
    currency,
    first_seen_at AS at,
    amount,
    fee,
        CASE
            WHEN gone_at IS NULL THEN status
            ELSE 'gone'
        END AS status
   FROM transfers
  WHERE returned_at IS DISTINCT FROM first_seen_at;

CREATE VIEW returned_payouts AS
 SELECT id,
    mode,
    NULL::text AS order_id,
    reference,
    currency,
    returned_at AS at,
    amount,
    status
   FROM transfers
  WHERE returned_at > first_seen_at;

CREATE VIEW stopped_currencies AS
 SELECT currency_stops.mode,
    currency_stops.currency,
    currency_stops.reference,
    currency_stops.stopped_at,
    NULL::text AS reason,
    NULL::text AS stopped_by
   FROM currency_stops
  WHERE currency_stops.released_at IS NULL
UNION ALL
 SELECT checkout_stops.mode,
    checkout_stops.currency,
    NULL::text AS reference,
    checkout_stops.stopped_at,
    checkout_stops.reason,
    checkout_stops.stopped_by
   FROM checkout_stops
  WHERE checkout_stops.resumed_at IS NULL;

CREATE OR REPLACE FUNCTION accepted_now(a acceptances)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  SELECT CASE WHEN a.amount < r.amount
      THEN (SELECT sum(c.amount)::bigint FROM confirmed_money c WHERE c.order_id = a.order_id)
    WHEN EXISTS (SELECT FROM verifications v
      WHERE v.reference = a.reference AND v.id > a.verification_id AND v.outcome = 'paid') THEN r.amount
    ELSE a.amount END
  FROM releases r WHERE r.order_id = a.order_id
$function$;

CREATE OR REPLACE FUNCTION decided_now(of_mode text, of_reference text, of_currency text, earned bigint, heeds_verify boolean, keeps_listed boolean, listed_now bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION end_decided_order(ended text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  last suspense_items;
BEGIN
  IF (SELECT status FROM orders WHERE id = ended FOR NO KEY UPDATE) IS DISTINCT FROM 'review'
    OR EXISTS (SELECT FROM suspense_items WHERE order_id = ended AND closed_at IS NULL)
    OR EXISTS (SELECT FROM payments WHERE order_id = ended
      AND (status IN ('created', 'sending', 'open', 'ambiguous') OR status = 'held' AND decided_at IS NULL)) THEN
    RETURN false;
  END IF;
  SELECT * INTO last FROM suspense_items
    WHERE order_id = ended AND decision NOT IN ('earned', 'accept') ORDER BY closed_at DESC, id DESC LIMIT 1;
  IF last.id IS NULL THEN
    RETURN false;
  END IF;
  UPDATE orders SET status = 'cancelled', cancelled_at = now(), cancelled_by = last.closed_by,
    deadline_check_at = NULL, cancel_reason = 'its money was decided about: ' || last.decision WHERE id = ended;
  INSERT INTO journal (order_id, event, reference, cause, detail)
    VALUES (ended, 'order-cancelled', last.reference, 'operator:' || last.closed_by, jsonb_build_object(
      'reason', 'its money was decided about: ' || last.decision, 'item', last.id));
  RETURN true;
END $function$;

CREATE OR REPLACE FUNCTION erase_email(address text, erased_by text, why text)
 RETURNS bigint
 LANGUAGE sql
AS $function$
  SELECT count(*) FROM erase_person(address, erased_by, why, false)
$function$;

CREATE OR REPLACE FUNCTION erase_person(address text, erased_by text, why text, even_open boolean)
 RETURNS SETOF text
 LANGUAGE plpgsql
AS $function$
DECLARE
  open_order record;
BEGIN
  IF coalesce(btrim(erased_by), '') IN ('', 'reconciliation', 'confirmation') OR coalesce(btrim(why), '') = '' THEN
    RAISE EXCEPTION 'an address is erased by a person, with a reason';
  END IF;
  SELECT o.id, o.why INTO open_order FROM open_orders_of(address) o LIMIT 1;
  IF open_order.id IS NOT NULL AND NOT even_open THEN
    RAISE EXCEPTION 'order % is still open: %', open_order.id, open_order.why;
  END IF;
  RETURN QUERY WITH gone AS (
    UPDATE orders SET email = 'erased', email_salt = NULL, shopper_details = '{}'
    WHERE lower(email) = lower(address) AND email <> 'erased' RETURNING id
  ), unsaid AS (
    -- Should it be delivered once more, its message is made anew of what is left.
    UPDATE releases SET message = NULL FROM gone WHERE order_id = gone.id
  ), told AS (
    INSERT INTO journal (order_id, event, cause, detail)
    SELECT id, 'email-erased', 'operator:' || btrim(erased_by), jsonb_build_object('note', why) FROM gone
    RETURNING order_id
  )
  SELECT order_id FROM told;
END $function$;

CREATE OR REPLACE FUNCTION erasure_is_told()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM journal WHERE order_id = NEW.id AND event = 'email-erased') THEN
    RAISE EXCEPTION 'the address of order % is erased by erase_email(), which writes who did it and why', NEW.id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION evidence_hash(evidence verifications)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT encode(sha256(convert_to(concat_ws(E'\x1f',
    evidence.id::text, evidence.reference, evidence.order_id, evidence.mode, evidence.outcome,
    coalesce(evidence.status_word, ''), coalesce(evidence.amount::text, ''), coalesce(evidence.currency, ''),
    evidence.http_status::text, encode(evidence.body_sha256, 'hex'), evidence.cause,
    extract(epoch FROM evidence.answered_at)::text), 'UTF8')), 'hex')
$function$;

CREATE OR REPLACE FUNCTION finding_told(f findings)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  SELECT jsonb_strip_nulls(jsonb_build_object('finding', f.id, 'class', f.class, 'expected', f.expected::text,
    'actual', f.actual::text, 'currency', f.currency))
$function$;

CREATE OR REPLACE FUNCTION follow_payments(followed text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  was text;
  has_ended boolean;
  now_is text;
BEGIN
  SELECT status, status IN ('paid', 'cancelled') OR expired_at IS NOT NULL INTO was, has_ended
  FROM orders WHERE id = followed FOR NO KEY UPDATE;
  SELECT CASE
    WHEN bool_or(status = 'held' AND decided_at IS NULL) OR EXISTS (
      SELECT FROM suspense_items WHERE order_id = followed AND closed_at IS NULL) THEN 'review'
    WHEN bool_or(status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'pending'
    -- That our own key was refused says nothing about the order.
    WHEN bool_or(status IN ('failed', 'refused') AND reason IS DISTINCT FROM 'key-refused') THEN 'failed'
    WHEN bool_or(status = 'held') AND NOT bool_or(status = 'expired') THEN 'review'
    ELSE 'expired' END
  INTO now_is FROM payments WHERE order_id = followed;
  IF NOT has_ended AND was <> now_is THEN
    UPDATE orders SET status = now_is WHERE id = followed;
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION journal_append()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION journal_hash(entry journal)
 RETURNS bytea
 LANGUAGE sql
 STABLE
AS $function$
  SELECT sha256(convert_to(concat_ws(E'\x1f',
    entry.order_id, entry.seq::text, extract(epoch FROM entry.at)::text, entry.event,
    coalesce(entry.reference, ''), entry.cause, entry.detail::text, encode(entry.previous_hash, 'hex')), 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION keep_evidence_of_findings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM findings f WHERE f.reference = OLD.reference AND f.closed_at IS NULL) THEN
    RAISE EXCEPTION 'the evidence of an open finding is kept: %', OLD.reference USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $function$;

CREATE OR REPLACE FUNCTION money_that_came(r releases)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  SELECT CASE WHEN r.acceptance_id IS NULL THEN r.amount
    ELSE (SELECT sum(c.amount)::bigint FROM confirmed_money c WHERE c.order_id = r.order_id) END
$function$;

CREATE OR REPLACE FUNCTION open_orders_of(address text)
 RETURNS TABLE(id text, why text)
 LANGUAGE sql
 STABLE
AS $function$
  SELECT o.id, open.why FROM orders o CROSS JOIN LATERAL (SELECT concat_ws(', ',
    CASE WHEN EXISTS (SELECT FROM payments p WHERE p.order_id = o.id
      AND p.status IN ('created', 'sending', 'open', 'ambiguous')) THEN 'a payment is on its way' END,
    CASE WHEN EXISTS (SELECT FROM payments p WHERE p.order_id = o.id
      AND p.status = 'held' AND p.decided_at IS NULL) THEN 'a payment is held and not decided about' END,
    CASE WHEN EXISTS (SELECT FROM releases r WHERE r.order_id = o.id
      AND r.delivery IN ('waiting', 'dead')) THEN 'what was paid for is not delivered' END,
    CASE WHEN EXISTS (SELECT FROM suspense_items s WHERE s.order_id = o.id
      AND s.closed_at IS NULL) THEN 'money is in suspense' END,
    CASE WHEN EXISTS (SELECT FROM findings f WHERE f.order_id = o.id
      AND f.closed_at IS NULL) THEN 'a finding is open' END) AS why) open
  WHERE lower(o.email) = lower(address) AND o.email <> 'erased' AND open.why <> '' ORDER BY o.id
$function$;

CREATE OR REPLACE FUNCTION order_follows_payments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM follow_payments(NEW.order_id);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION order_hash(id text, external_id text, mode text, amount bigint, currency text, lines jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT encode(sha256(convert_to(jsonb_build_array(id, external_id, mode, amount::text, currency, (
    SELECT jsonb_agg(jsonb_build_array(l.position, l.sku, l.description, l.unit_amount::text, l.quantity) ORDER BY l.position)
    FROM jsonb_to_recordset(lines) AS l (position int, sku text, description text, unit_amount bigint, quantity int)
  ))::text, 'UTF8')), 'hex')
$function$;

CREATE OR REPLACE FUNCTION order_reopened_writes_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM write_event('order.reopened', NEW.mode, NEW.id,
    (SELECT reference FROM payments WHERE order_id = NEW.id ORDER BY created_at DESC, reference DESC LIMIT 1), '{}');
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION order_writes_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM write_event('order.' || NEW.status, NEW.mode, NEW.id,
    (SELECT reference FROM payments WHERE order_id = NEW.id ORDER BY created_at DESC, reference DESC LIMIT 1),
    CASE NEW.status WHEN 'cancelled' THEN jsonb_build_object('reason', NEW.cancel_reason)
      WHEN 'expired' THEN jsonb_build_object('final', NEW.expired_at IS NOT NULL) ELSE '{}' END);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION payment_follows_suspense()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE payments SET suspense_changes = suspense_changes + 1,
    decided_at = CASE WHEN NEW.decision <> 'earned' AND status <> 'paid' THEN NEW.closed_at ELSE decided_at END
  WHERE reference = NEW.reference AND mode = NEW.mode;
  IF NEW.order_id IS NOT NULL AND (NEW.closed_at IS NULL OR NOT end_decided_order(NEW.order_id)) THEN
    PERFORM follow_payments(NEW.order_id);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION payment_heeds_decisions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.decided_at := coalesce(NEW.decided_at, (SELECT max(closed_at) FROM suspense_items
    WHERE mode = NEW.mode AND reference = NEW.reference AND closed_at IS NOT NULL AND decision <> 'earned'));
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION refund_withholds_release()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF (SELECT sum(amount) FROM refunds WHERE order_id = NEW.order_id)
    >= (SELECT money_that_came(r) FROM releases r WHERE r.order_id = NEW.order_id) THEN
    PERFORM withhold_release(NEW.order_id, 'refunded',
      CASE NEW.refunded_by WHEN 'shop' THEN 'shop' ELSE 'operator:' || NEW.refunded_by END);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION refund_writes_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM write_event('order.refunded', NEW.mode, NEW.order_id,
    (SELECT reference FROM releases WHERE order_id = NEW.order_id),
    jsonb_build_object('refundId', NEW.id, 'refundExternalId', NEW.external_id, 'refundAmount', NEW.amount::text,
      'refunded', (SELECT sum(amount)::text FROM refunds WHERE order_id = NEW.order_id)));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION refuse_cancelled_orders()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  how text;
BEGIN
  SELECT CASE WHEN status = 'cancelled' THEN 'was cancelled' WHEN expired_at IS NOT NULL THEN 'expired for good' END
  INTO how FROM orders WHERE id = NEW.order_id;
  IF how IS NOT NULL THEN
    RAISE EXCEPTION 'the release of order % is refused: it %', NEW.order_id, how
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '% on % is refused: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $function$;

CREATE OR REPLACE FUNCTION refuse_decided_money()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM payments WHERE reference = NEW.reference AND decided_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the release of order % is refused: a person has decided about this money', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION refuse_line_of_paid_order()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM orders WHERE id = NEW.order_id AND status = 'paid') THEN
    RAISE EXCEPTION 'INSERT on order_lines is refused: order % is paid', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION refuse_move_without_answer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.status = 'paid' AND EXISTS (
    SELECT FROM acceptances WHERE reference = NEW.reference AND accepted_at = now()) THEN
    RETURN NULL;
  END IF;
  IF (SELECT answered_at FROM verifications WHERE reference = NEW.reference ORDER BY id DESC LIMIT 1)
    IS DISTINCT FROM now() THEN
    RAISE EXCEPTION 'UPDATE on payments is refused: payment % is held, and only an answer of the service moves it',
      NEW.reference USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION refuse_paid_without_release()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM releases WHERE mode = NEW.mode AND reference = NEW.reference) THEN
    RAISE EXCEPTION 'payment % is refused as paid: it has no release', NEW.reference
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION refuse_refund()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  was_paid orders;
BEGIN
  SELECT * INTO was_paid FROM orders WHERE id = NEW.order_id FOR NO KEY UPDATE;
  IF was_paid.status IS DISTINCT FROM 'paid' THEN
    RAISE EXCEPTION 'the refund of order % is refused: it is not paid', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF (was_paid.mode, was_paid.currency) <> (NEW.mode, NEW.currency) THEN
    RAISE EXCEPTION 'the refund of order % is refused: it is of another mode or currency', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  PERFORM FROM releases WHERE id = was_paid.release_id FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM refunds WHERE order_id = NEW.order_id AND external_id = NEW.external_id)
    AND NEW.amount > (SELECT money_that_came(r) FROM releases r WHERE r.id = was_paid.release_id)
      - (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = NEW.order_id) THEN
    RAISE EXCEPTION 'the refund of order % is refused: more than was paid would go back', NEW.order_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION reversal_writes_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM write_event('order.reversed', NEW.mode, NEW.order_id, NEW.reference,
    jsonb_build_object('findingId', NEW.id::text, 'unexplained', greatest(0,
      coalesce((NEW.evidence ->> 'refunded')::bigint + (NEW.evidence ->> 'unexplained')::bigint,
        NEW.expected - CASE WHEN NEW.actual < NEW.expected THEN NEW.actual ELSE 0 END)
      - (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = NEW.order_id))::text));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION suspense_writes_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM write_event('suspense.opened', NEW.mode, NEW.order_id, NEW.reference,
    jsonb_build_object('suspenseId', NEW.id::text, 'class', NEW.class, 'amount', NEW.amount::text,
      'currency', NEW.currency));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION text_hash(given text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT encode(sha256(convert_to(given, 'UTF8')), 'hex')
$function$;

CREATE OR REPLACE FUNCTION withhold_release(of_order text, why text, caused_by text)
 RETURNS void
 LANGUAGE sql
AS $function$
  WITH seen AS (
    SELECT id, delivery, attempts FROM releases
    WHERE order_id = of_order AND delivery IN ('unneeded', 'waiting', 'dead') FOR NO KEY UPDATE
  ), withheld AS (
    UPDATE releases r SET delivery = 'withheld', next_check_at = NULL FROM seen WHERE r.id = seen.id
    RETURNING r.order_id, r.reference, r.id, seen.delivery AS was, seen.attempts
  )
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT order_id, 'release-withheld', reference, caused_by,
    jsonb_build_object('release', id, 'was', was, 'attempts', attempts, 'why', why) FROM withheld
$function$;

CREATE OR REPLACE FUNCTION write_event(of_type text, of_mode text, of_order text, of_reference text, given jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  is_wanted boolean := EXISTS (SELECT FROM wanted_events WHERE mode = of_mode AND type = of_type);
BEGIN
  INSERT INTO events (id, type, mode, order_id, reference, after_release, data, delivery, next_check_at)
  VALUES ('evt_' || left(text_hash(gen_random_uuid()::text), 24), of_type, of_mode, of_order, of_reference,
    EXISTS (SELECT FROM releases WHERE order_id = of_order),
    jsonb_build_object('status', (SELECT status FROM orders WHERE id = of_order)) || given,
    CASE WHEN is_wanted THEN 'waiting' ELSE 'unneeded' END, CASE WHEN is_wanted THEN now() END);
END $function$;
