-- What became of an order beside being paid, and of money in suspense, for a shop's own system. A release is the
-- event of a paid order and stays where it is. Each row is written by a trigger, in the transaction that makes it
-- true, whichever program that is. The common order goes from pending to paid and writes none.

-- The types that the worker which started last delivers. A type that is not here when something happens is
-- recorded all the same, and sent when a person asks for it.
CREATE TABLE wanted_events (
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  type text NOT NULL,
  PRIMARY KEY (mode, type)
);

CREATE TABLE events (
  id             text PRIMARY KEY CHECK (id ~ '^evt_[A-Za-z0-9]{24}$'),
  -- The order of happening. Events of one order are numbered under its lock.
  seq            bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  type           text NOT NULL CHECK (type IN ('order.review', 'order.failed', 'order.expired', 'order.cancelled',
                 'order.refunded', 'order.reversed', 'suspense.opened')),
  mode           text NOT NULL CHECK (mode IN ('test', 'live')),
  -- Null: money in suspense that is of no order here.
  order_id       text REFERENCES orders (id),
  reference      text,
  -- Whether the order's release was there already: whichever came first is delivered first.
  after_release  boolean NOT NULL,
  -- As it was then: the order's status, and what the type adds. Amounts are texts in minor units.
  data           jsonb NOT NULL,
  happened_at    timestamptz NOT NULL DEFAULT now(),
  -- As in releases. unneeded: its type was not wanted.
  delivery       text NOT NULL CHECK (delivery IN ('unneeded', 'waiting', 'delivered', 'dead')),
  next_check_at  timestamptz,
  leased_until   timestamptz,
  attempts       integer NOT NULL DEFAULT 0,
  delivered_at   timestamptz,
  last_error     text,
  tried_since    timestamptz,
  asked_again_at timestamptz,
  -- A person's name. The journal of the order says more, but an event may have no order.
  asked_again_by text,
  message        text
);
CREATE INDEX events_of_order ON events (order_id, seq);
CREATE INDEX events_due ON events (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX events_undelivered ON events (seq) WHERE delivery IN ('waiting', 'dead');
-- An event waits for those of its order before it.
CREATE INDEX events_waiting ON events (order_id, seq) WHERE delivery = 'waiting';
CREATE INDEX events_unsent ON events (mode, type, seq) WHERE delivery = 'unneeded';

CREATE TRIGGER events_stay BEFORE DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_change('an event has happened');
CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('an event has happened');
CREATE TRIGGER events_are_frozen BEFORE UPDATE ON events
  FOR EACH ROW WHEN ((OLD.id, OLD.seq, OLD.type, OLD.mode, OLD.order_id, OLD.reference, OLD.after_release, OLD.data,
    OLD.happened_at) IS DISTINCT FROM (NEW.id, NEW.seq, NEW.type, NEW.mode, NEW.order_id, NEW.reference,
    NEW.after_release, NEW.data, NEW.happened_at))
  EXECUTE FUNCTION refuse_change('an event has happened');
CREATE TRIGGER event_messages_are_frozen BEFORE UPDATE OF message ON events
  FOR EACH ROW WHEN (OLD.message IS NOT NULL AND NEW.message IS NOT NULL AND OLD.message <> NEW.message)
  EXECUTE FUNCTION refuse_change('a receiver may have this message already');


CREATE FUNCTION write_event(of_type text, of_mode text, of_order text, of_reference text, given jsonb)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  is_wanted boolean := EXISTS (SELECT FROM wanted_events WHERE mode = of_mode AND type = of_type);
BEGIN
  INSERT INTO events (id, type, mode, order_id, reference, after_release, data, delivery, next_check_at)
  VALUES ('evt_' || left(text_hash(gen_random_uuid()::text), 24), of_type, of_mode, of_order, of_reference,
    EXISTS (SELECT FROM releases WHERE order_id = of_order),
    jsonb_build_object('status', (SELECT status FROM orders WHERE id = of_order)) || given,
    CASE WHEN is_wanted THEN 'waiting' ELSE 'unneeded' END, CASE WHEN is_wanted THEN now() END);
END $$;

CREATE FUNCTION order_writes_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_event('order.' || NEW.status, NEW.mode, NEW.id,
    (SELECT reference FROM payments WHERE order_id = NEW.id ORDER BY created_at DESC, reference DESC LIMIT 1),
    CASE NEW.status WHEN 'cancelled' THEN jsonb_build_object('reason', NEW.cancel_reason) ELSE '{}' END);
  RETURN NULL;
END $$;
CREATE TRIGGER order_writes_event AFTER UPDATE OF status ON orders
  FOR EACH ROW WHEN (OLD.status <> NEW.status AND NEW.status IN ('review', 'failed', 'expired', 'cancelled'))
  EXECUTE FUNCTION order_writes_event();

CREATE FUNCTION refund_writes_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_event('order.refunded', NEW.mode, NEW.order_id,
    (SELECT reference FROM releases WHERE order_id = NEW.order_id),
    jsonb_build_object('refundId', NEW.id, 'refundExternalId', NEW.external_id, 'refundAmount', NEW.amount::text,
      'refunded', (SELECT sum(amount)::text FROM refunds WHERE order_id = NEW.order_id)));
  RETURN NULL;
END $$;
CREATE TRIGGER refund_writes_event AFTER INSERT ON refunds
  FOR EACH ROW EXECUTE FUNCTION refund_writes_event();

-- What is left of the money there is in `actual`, unless the list goes on showing all of it.
CREATE FUNCTION reversal_writes_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_event('order.reversed', NEW.mode, NEW.order_id, NEW.reference,
    jsonb_build_object('findingId', NEW.id::text, 'unexplained', greatest(0, NEW.expected
      - CASE WHEN NEW.actual < NEW.expected THEN NEW.actual ELSE 0 END
      - (SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = NEW.order_id))::text));
  RETURN NULL;
END $$;
CREATE TRIGGER reversal_writes_event AFTER INSERT ON findings
  FOR EACH ROW WHEN (NEW.class = 'reversed' AND NEW.order_id IS NOT NULL AND NEW.raised_at IS NOT NULL)
  EXECUTE FUNCTION reversal_writes_event();
-- Raised later, or of other money than before.
CREATE TRIGGER reversal_changes_write_event AFTER UPDATE ON findings
  FOR EACH ROW WHEN (NEW.class = 'reversed' AND NEW.order_id IS NOT NULL AND NEW.raised_at IS NOT NULL
    AND NEW.closed_at IS NULL AND (OLD.raised_at IS NULL
      OR (OLD.expected, OLD.actual) IS DISTINCT FROM (NEW.expected, NEW.actual)))
  EXECUTE FUNCTION reversal_writes_event();

-- After `suspense_opens`, so its order is locked and follows already.
CREATE FUNCTION suspense_writes_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_event('suspense.opened', NEW.mode, NEW.order_id, NEW.reference,
    jsonb_build_object('suspenseId', NEW.id::text, 'class', NEW.class, 'amount', NEW.amount::text,
      'currency', NEW.currency));
  RETURN NULL;
END $$;
CREATE TRIGGER suspense_writes_event AFTER INSERT ON suspense_items
  FOR EACH ROW EXECUTE FUNCTION suspense_writes_event();
