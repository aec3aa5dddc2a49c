-- Version 1.1. It keeps all rows of a database of 1.0.0. Servers of 1.0.0 cannot run beside it.
--
-- The ledger keeps what each source reported and what we booked, and merges nothing. An order can be paid in parts: its
-- proof of payment has one row for each payment that contributes. Columns and values get the names of the
-- glossary in README.md.
--
-- What the database promises about money from now on:
--  1. An order is paid exactly when it names the payment that completed its price, and its proof names that payment, too.
--  2. The payments of a proof add up to its amount. Verify showed exactly what each of them contributes, and the amount
--     is the price; or a person's name is on the proof.
--  3. One proof per order, and one contribution per payment, and per mode and id of the service.
--  4. No more is captured, retained and returned than a source ever reported as received, and no more refunded than was
--     captured or recovered.
--  5. No figure of a ledger is below 0.

-- When an order last changed in a way that its view shows. Existing orders count as changed now, so that a shop's own
-- system that asks for changes reads each of them once more, and misses none.
ALTER TABLE "orders" ADD COLUMN "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
ALTER TABLE "orders" ALTER COLUMN "updated_at" SET DEFAULT clock_timestamp();
CREATE INDEX "orders_by_change" ON "orders"("updated_at");

-- A signed webhook that was not seen before goes before all other notifications, which anybody can give.
ALTER TABLE "payments" ADD COLUMN "signed_notification" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "payments" RENAME COLUMN "hinted_at" TO "notified_at";
CREATE INDEX "idempotency_keys_of_order_index" ON "idempotency_keys"("order_id");

CREATE TABLE "ledgers" (
    "reference" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "captured" BIGINT NOT NULL,
    "retained" BIGINT NOT NULL,
    "returned" BIGINT NOT NULL,
    "refunded" BIGINT NOT NULL,
    "written_off" BIGINT NOT NULL,
    "off_provider" BIGINT NOT NULL,
    "recovered" BIGINT NOT NULL,
    "booked_in_at" TIMESTAMPTZ(3),
    "booked_out_at" TIMESTAMPTZ(3),
    "verify_received" BIGINT NOT NULL,
    "verify_outflow" BIGINT NOT NULL,
    "verify_transactions" JSONB NOT NULL,
    "verify_uncertain" BOOLEAN NOT NULL,
    "verify_most_received" BIGINT NOT NULL,
    "verify_most_outflow" BIGINT NOT NULL,
    "history_received" BIGINT NOT NULL,
    "history_outflow" BIGINT NOT NULL,
    "history_transactions" JSONB NOT NULL,
    "history_uncertain" BOOLEAN NOT NULL,
    "history_most_received" BIGINT NOT NULL,
    "history_most_outflow" BIGINT NOT NULL,
    "history_word" TEXT,
    "history_read_at" TIMESTAMPTZ(3),
    "history_reached_at" TIMESTAMPTZ(3),

    CONSTRAINT "ledgers_pkey" PRIMARY KEY ("reference", "currency"),
    CONSTRAINT "ledgers_are_not_negative" CHECK (least("captured", "retained", "returned", "refunded", "written_off",
        "off_provider", "recovered", "verify_received", "verify_outflow", "verify_most_received", "verify_most_outflow",
        "history_received", "history_outflow", "history_most_received", "history_most_outflow") >= 0),
    CONSTRAINT "ledgers_allocate_what_was_received" CHECK ("captured" + "retained" + "returned"
        <= greatest("verify_most_received", "history_most_received")),
    CONSTRAINT "ledgers_refund_what_was_captured" CHECK ("refunded" <= "captured" + "recovered"),
    CONSTRAINT "ledgers_take_back_what_was_booked" CHECK ("off_provider" + "recovered"
        <= "returned" + "refunded" + "written_off")
);

-- What version 1.0.0 knew. Of verify: each charge by its newest answer. A reversal that names no currency is about all
-- currencies, and one that names no amount is about all that came.
WITH answers AS (
    SELECT v.*, row_number() OVER (PARTITION BY reference ORDER BY id DESC) AS place
    FROM verifications v WHERE outcome <> 'unreadable'),
newest AS (SELECT reference, outcome, doubt FROM answers WHERE place = 1),
about_money AS (
    SELECT a.id, a.reference, m.currency, a.service_id, a.outcome, coalesce(a.shows, 0) AS shows,
        coalesce(a.currency, m.currency) = m.currency AS is_here,
        greatest(a.shows, coalesce(a.amount, (
            SELECT b.amount FROM answers b WHERE b.reference = a.reference AND b.currency = m.currency AND b.id < a.id
                AND b.outcome IN ('paid', 'reversed') AND b.amount > 0
            ORDER BY b.service_id IS NOT DISTINCT FROM a.service_id DESC, b.id DESC LIMIT 1), 0)) AS received
    FROM answers a JOIN money m USING (reference) WHERE a.outcome IN ('paid', 'reversed')),
spoken AS (SELECT DISTINCT ON (reference) * FROM about_money ORDER BY reference, id DESC),
charges AS (
    SELECT DISTINCT ON (a.reference, a.currency, a.service_id) a.*, a.received - a.shows AS outflow
    FROM about_money a JOIN spoken s ON s.reference = a.reference
    WHERE a.id = s.id OR (s.service_id IS NOT NULL AND a.service_id IS NOT NULL AND (s.outcome = 'paid'
        OR EXISTS (SELECT FROM about_money b
            WHERE b.reference = s.reference AND b.service_id = s.service_id AND b.id < s.id)))
    ORDER BY a.reference, a.currency, a.service_id, a.id DESC),
verify AS (
    SELECT reference, currency, sum(received)::bigint AS received, sum(outflow)::bigint AS outflow,
        jsonb_agg(jsonb_build_object('id', service_id, 'received', received::text, 'outflow', outflow::text))
            AS transactions
    FROM charges WHERE is_here GROUP BY reference, currency),
most AS (
    SELECT reference, currency, max(received) AS received FROM about_money WHERE is_here GROUP BY reference, currency),
accepted AS (
    SELECT r.reference, v.doubt FROM releases r JOIN verifications v ON v.id = r.verification_id
    WHERE r.accepted_by IS NOT NULL),
-- Of the history: the figures of the last run that applied it. Where 1.0.0 only assumed what the history shows, nothing
-- is carried over; the next whole run applies it. What both sources call failed has left verify.
sources AS (
    SELECT m.*,
        CASE WHEN list_heard_at IS NULL THEN 0 ELSE coalesce(list_shows, 0) + list_gone END AS h_received,
        CASE WHEN list_heard_at IS NULL THEN 0 ELSE list_gone + list_beyond END AS h_outflow,
        n.outcome NOT IN ('paid', 'reversed')
            OR (n.doubt IS NOT NULL AND n.doubt IS DISTINCT FROM a.doubt) AS is_doubtful,
        list_doubted AND a.reference IS NULL AS h_uncertain,
        (n.outcome IN ('failed', 'expired') AND list_heard_at IS NOT NULL AND coalesce(list_shows, 0) + list_gone = 0)
            IS TRUE AS is_withdrawn,
        n.outcome IN ('failed', 'expired') AND v.reference IS NULL AS is_without_money
    FROM money m LEFT JOIN newest n USING (reference) LEFT JOIN accepted a USING (reference)
        LEFT JOIN verify v USING (reference, currency)),
reported AS (
    SELECT s.*, CASE WHEN is_withdrawn THEN 0 ELSE coalesce(v.received, 0) END AS v_received,
        CASE WHEN is_withdrawn THEN 0 ELSE coalesce(v.outflow, 0) END AS v_outflow,
        CASE WHEN is_withdrawn THEN '[]' ELSE coalesce(v.transactions, '[]') END AS v_transactions,
        (is_doubtful AND NOT is_withdrawn AND NOT is_without_money) IS TRUE AS v_uncertain,
        greatest(v.received, w.received, 0) AS v_most
    FROM sources s LEFT JOIN verify v USING (reference, currency) LEFT JOIN most w USING (reference, currency)),
-- Money that went and came back was booked twice by 1.0.0: as gone, and as new money. So what it counted as gone and
-- no source reports as gone any more is taken off what goes back, and what was kept of it is recovered. The rest came
-- back, and nobody has decided about it.
came_back AS (
    SELECT *, least(send_back - send_back_elsewhere, came_again) AS returned_twice
    FROM (SELECT *, greatest(0, went - greatest(v_outflow, h_outflow)) AS came_again FROM reported) AS r),
books AS (
    SELECT *, send_back - returned_twice AS returned, send_back_elsewhere + refunded_elsewhere AS off_provider,
        least(kept, came_again - returned_twice,
            send_back - returned_twice + refunded + lost - send_back_elsewhere - refunded_elsewhere) AS recovered
    FROM came_back),
old AS (
    SELECT b.*, least(list_rolled, h_outflow) AS rolled_off, kept - recovered AS retained,
        earned + kept - recovered + returned AS allocated,
        returned + refunded + lost - off_provider - recovered AS booked_out,
        CASE WHEN r.currency = b.currency THEN r.at END AS released_at,
        (SELECT max(at) FROM refunds f WHERE f.order_id = r.order_id AND NOT f.elsewhere) AS refunded_at,
        (SELECT max(closed_at) FROM cases c WHERE c.reference = b.reference AND c.currency = b.currency
            AND c.decision IN ('accept', 'keep', 'refund')) AS decided_in_at,
        (SELECT max(closed_at) FROM cases c WHERE c.reference = b.reference AND c.currency = b.currency
            AND c.decision IN ('refund', 'write-off')) AS decided_out_at
    FROM books b LEFT JOIN releases r USING (reference))
INSERT INTO ledgers
SELECT reference, currency, earned, retained, returned, refunded, lost, off_provider, recovered,
    greatest(released_at, decided_in_at), CASE WHEN booked_out > 0 THEN greatest(refunded_at, decided_out_at) END,
    v_received, v_outflow, v_transactions, v_uncertain, v_most, least(v_outflow, booked_out), h_received, h_outflow,
    -- Its rows are not known: the first reading that reports some of them takes their place (sources.ts).
    CASE WHEN h_received + h_outflow = 0 THEN '[]' ELSE jsonb_build_array(jsonb_build_object('id', NULL,
        'received', h_received::text, 'outflow', (h_outflow - rolled_off)::text, 'isSum', true)) END
        || CASE WHEN rolled_off = 0 THEN '[]' ELSE jsonb_build_array(jsonb_build_object('id', NULL,
        'received', '0', 'outflow', rolled_off::text, 'isRolledOff', true)) END,
    h_uncertain, greatest(h_received, CASE WHEN v_most < allocated THEN allocated END),
    least(booked_out, h_outflow + came_again - returned_twice - recovered), list_word, list_heard_at, list_heard_at
FROM old;

-- The books count changes of missing money as lines of the journal. Version 1.0.0 derived them, so they are added here,
-- each at the time of the line that it follows from. Nothing that was written before is changed.
ALTER TABLE "journal" DROP CONSTRAINT "journal_counters_grow";
ALTER TABLE "journal" ADD CONSTRAINT "journal_counters_change"
    CHECK ("counter" IS NULL OR ("amount" <> 0 AND "currency" IS NOT NULL) IS TRUE);

WITH signs (counter, gone, back) AS (VALUES ('came', 0, 0), ('went', 1, 0), ('sendBack', 0, 1), ('refunded', -1, 0),
    ('lost', -1, 0), ('refundedElsewhere', 1, 0), ('sendBackElsewhere', 1, 0)),
lines AS (
    SELECT j.*, greatest(0, sum(j.amount * gone) OVER so_far - sum(j.amount * back) OVER with_next) AS missing
    FROM journal j JOIN signs USING (counter)
    WHERE EXISTS (SELECT FROM money m WHERE m.reference = j.reference AND m.currency = j.currency AND m.went > 0)
    WINDOW so_far AS (PARTITION BY reference, j.currency ORDER BY j.id),
        with_next AS (so_far ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)),
changes AS (
    SELECT *, missing - lag(missing, 1, 0::numeric) OVER (PARTITION BY reference, currency ORDER BY id) AS change
    FROM lines)
INSERT INTO journal (order_id, reference, what, "by", counter, amount, currency, data, at)
SELECT order_id, reference, 'upgraded', "by", 'missing', change, currency, data, at
FROM changes WHERE change <> 0 ORDER BY id;

-- Held and missing money as the program counts them (figuresOf). Where that is not what 1.0.0 counted, such as a loss
-- that its books had no place for, the difference is booked now.
WITH books AS (
    SELECT *, captured + retained + returned AS a, returned + refunded + written_off - off_provider - recovered AS o,
        coalesce(history_reached_at >= coalesce(booked_in_at, '-infinity'), false) AS had_time
    FROM ledgers),
standings AS (
    SELECT reference, currency, source, surplus, outflow - o AS excess, greatest(0,
        CASE WHEN is_uncertain THEN greatest(received, outflow) ELSE outflow END - o - surplus_in_time) AS missing
    FROM books CROSS JOIN LATERAL (VALUES
        ('verify', verify_received, verify_outflow, verify_uncertain, verify_received - a,
            verify_received - a + greatest(0, a - o - verify_most_received)),
        ('history', history_received, history_outflow, history_uncertain, history_received - a,
            CASE WHEN had_time THEN history_received - a ELSE greatest(0, history_received - a) END)
        ) AS s (source, received, outflow, is_uncertain, surplus, surplus_in_time)),
figures AS (
    SELECT reference, currency, max(greatest(0, surplus - greatest(0, excess))) AS held,
        coalesce(nullif(max(least(missing, greatest(0, excess))), 0), min(missing)) AS missing
    FROM standings GROUP BY reference, currency),
journaled AS (
    SELECT reference, currency, sum(amount * (counter = 'missing')::int) AS missing,
        sum(amount * ((counter = 'came')::int - (counter IN ('earned', 'kept', 'sendBack'))::int)) AS held
    FROM journal WHERE counter IS NOT NULL GROUP BY reference, currency),
differences AS (
    SELECT f.reference, f.currency, counter, amount
    FROM figures f LEFT JOIN journaled j USING (reference, currency) CROSS JOIN LATERAL (VALUES
        ('held', f.held - coalesce(j.held, 0)), ('missing', f.missing - coalesce(j.missing, 0))) AS d (counter, amount))
INSERT INTO journal (order_id, reference, what, "by", counter, amount, currency, at)
SELECT order_id, reference, 'upgraded', 'upgrade', counter, d.amount, d.currency, now()
FROM differences d JOIN payments p USING (reference) WHERE d.amount <> 0 ORDER BY reference, counter;

-- An explain decision acknowledges what was seen. Other decisions acknowledge nothing any more. What version 1.0.0
-- explained is known again by its kind and amounts: `pending` stands in place of the digest until then. What was
-- explained and has ended since (1.0.0 wrote a digest of words for that) is not known again.
ALTER TABLE "cases" DROP CONSTRAINT "cases_decided_are_closed";
ALTER TABLE "cases" RENAME COLUMN "covers" TO "acknowledged";
UPDATE cases SET acknowledged = CASE WHEN decision = 'explain' AND acknowledged <> sha256('nothing is left')
    THEN 'pending'::bytea END WHERE decision IS NOT NULL;
UPDATE cases SET evidence = '{}' WHERE closed_at IS NULL;
ALTER TABLE "cases" ADD CONSTRAINT "cases_decided_are_closed" CHECK ("decision" IS NULL OR "closed_at" IS NOT NULL);

-- A paid order is verified again at growing ages (RECHECK_AGES_DAYS of src/payments/schedule.ts).
UPDATE payments p SET next_check_at = (
    SELECT min(o.paid_at + make_interval(days => age)) FROM unnest(ARRAY[1, 3, 7, 14, 30, 60, 90, 120]) AS age
    WHERE o.paid_at + make_interval(days => age) > now())
FROM orders o WHERE o.released_reference = p.reference AND p.next_check_at IS NULL;

-- The rows of the history as a run reads them. A run that was under way begins again.
DROP TABLE "listed";
UPDATE runs SET ended_at = now(), verdict = 'incomplete', checkpoint = '{}' WHERE ended_at IS NULL;
CREATE UNLOGGED TABLE "history_rows" (
    "id" BIGSERIAL NOT NULL,
    "mode" "mode" NOT NULL,
    "reference" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "received" BIGINT NOT NULL,
    "outflow" BIGINT NOT NULL,
    "status" "outcome" NOT NULL,
    "word" TEXT NOT NULL,
    "transaction_id" TEXT,

    CONSTRAINT "history_rows_pkey" PRIMARY KEY ("id")
);

CREATE OR REPLACE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - 'body' = to_jsonb(OLD) - 'body' AND to_jsonb(NEW) ->> 'body' IS NULL THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'journal' AND never_had_money(to_jsonb(OLD) ->> 'order_id') THEN
        RETURN OLD;
    END IF;
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('verifications', 'ledgers') AND never_had_money(
        (SELECT order_id FROM payments WHERE reference = to_jsonb(OLD) ->> 'reference')) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is written once: it takes no % ', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$$;

DROP TABLE "money";
ALTER TABLE "ledgers" ADD CONSTRAINT "ledgers_of_payment" FOREIGN KEY ("reference")
    REFERENCES "payments"("reference") ON DELETE NO ACTION ON UPDATE NO ACTION;
CREATE TRIGGER "ledgers_stay" BEFORE DELETE ON "ledgers"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();

ALTER TABLE "orders" DROP CONSTRAINT "orders_paid_by_their_release";
ALTER TABLE "orders" RENAME COLUMN "released_reference" TO "paid_reference";
ALTER TABLE "orders" RENAME CONSTRAINT "orders_paid_are_released" TO "orders_paid_name_their_payment";
ALTER TABLE "orders" ADD COLUMN "part_paid" BIGINT NOT NULL DEFAULT 0,
    ADD CONSTRAINT "orders_part_paid" CHECK ("part_paid" >= 0);
ALTER INDEX "orders_released_key" RENAME TO "orders_paid_key";
CREATE UNIQUE INDEX "orders_currency_key" ON "orders"("id", "mode", "currency");
-- Orders that may still be paid, for the deadlines; and unpaid ones that have ended, for retention.
CREATE INDEX "orders_open" ON "orders"("created_at") WHERE ((ended_at IS NULL) AND (paid_reference IS NULL));
CREATE INDEX "orders_ended_unpaid" ON "orders"("ended_at") WHERE (paid_reference IS NULL);

ALTER TABLE "verifications" RENAME COLUMN "shows" TO "balance";
ALTER INDEX "verifications_shows_key" RENAME TO "verifications_balance_key";
ALTER TYPE "payment_status" RENAME VALUE 'foreign' TO 'unmatched';

-- A payment asks for the price, or for what is still due.
ALTER TABLE "payments" DROP CONSTRAINT "payments_of_order",
    ADD CONSTRAINT "payments_of_order" FOREIGN KEY ("order_id", "mode", "currency")
    REFERENCES "orders"("id", "mode", "currency") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "releases" RENAME TO "proofs";
ALTER TABLE "proofs" DROP CONSTRAINT "releases_of_payment", DROP CONSTRAINT "releases_of_order",
    DROP CONSTRAINT "releases_are_proven_or_accepted";
DROP TRIGGER "releases_are_written_once" ON "proofs";
DROP INDEX "payments_money_key";
CREATE UNIQUE INDEX "payments_money_key" ON "payments"("reference", "order_id", "mode", "currency");

CREATE TABLE "proof_payments" (
    "reference" TEXT NOT NULL,
    "order_id" TEXT NOT NULL,
    "mode" "mode" NOT NULL,
    "currency" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "verification_id" BIGINT NOT NULL,
    "shown" "outcome",
    "shown_amount" BIGINT,
    "service_id" TEXT,

    CONSTRAINT "proof_payments_pkey" PRIMARY KEY ("reference"),
    CONSTRAINT "proof_payments_capture_something" CHECK ("amount" > 0),
    CONSTRAINT "proof_payments_are_shown" CHECK ("shown" IS NULL OR ("shown" = 'paid' AND "shown_amount" = "amount") IS TRUE)
);
-- A person may have accepted what verify showed. Then the proof has the person's name, and no answer is its evidence.
INSERT INTO "proof_payments" SELECT "reference", "order_id", "mode", "currency", "amount", "verification_id",
    CASE WHEN "shown_amount" = "amount" THEN "shown" END, CASE WHEN "shown_amount" = "amount" THEN "shown_amount" END,
    "service_id" FROM "proofs";

ALTER TABLE "proofs" DROP COLUMN "verification_id", DROP COLUMN "shown", DROP COLUMN "shown_amount",
    DROP COLUMN "service_id";
ALTER TABLE "proofs" RENAME CONSTRAINT "releases_pkey" TO "proofs_pkey";
ALTER TABLE "proofs" RENAME CONSTRAINT "releases_earn_something" TO "proofs_capture_something";
ALTER TABLE "proofs" ADD CONSTRAINT "proofs_are_exact_or_accepted"
    CHECK (coalesce("accepted_by", '') <> '' OR "amount" = "price");
DROP INDEX "releases_reference_key";
ALTER INDEX "releases_order_reference_key" RENAME TO "proofs_reference_key";
CREATE UNIQUE INDEX "proof_payments_order_key" ON "proof_payments"("order_id", "reference");
CREATE UNIQUE INDEX "proof_payments_service_id_key" ON "proof_payments"("mode", "service_id");

-- Promise 1. Deferred: the order, its proof and its payments are written in one transaction, and each names the others.
ALTER TABLE "orders" ADD CONSTRAINT "orders_paid_by_their_proof" FOREIGN KEY ("id", "paid_reference")
    REFERENCES "proofs"("order_id", "reference") ON DELETE NO ACTION ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "proofs" ADD CONSTRAINT "proofs_pay_their_order" FOREIGN KEY ("order_id", "reference")
    REFERENCES "orders"("id", "paid_reference") ON DELETE NO ACTION ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "proofs" ADD CONSTRAINT "proofs_have_a_payment" FOREIGN KEY ("order_id", "reference")
    REFERENCES "proof_payments"("order_id", "reference") ON DELETE NO ACTION ON UPDATE NO ACTION
    DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "proofs" ADD CONSTRAINT "proofs_of_order" FOREIGN KEY ("order_id", "mode", "price", "currency")
    REFERENCES "orders"("id", "mode", "amount", "currency") ON DELETE NO ACTION ON UPDATE NO ACTION;
-- Promise 2.
ALTER TABLE "proof_payments" ADD CONSTRAINT "proof_payments_of_proof" FOREIGN KEY ("order_id")
    REFERENCES "proofs"("order_id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "proof_payments" ADD CONSTRAINT "proof_payments_of_payment"
    FOREIGN KEY ("reference", "order_id", "mode", "currency")
    REFERENCES "payments"("reference", "order_id", "mode", "currency") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "proof_payments" ADD CONSTRAINT "proof_payments_of_verification" FOREIGN KEY ("verification_id", "reference")
    REFERENCES "verifications"("id", "reference") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "proof_payments" ADD CONSTRAINT "proof_payments_show_what_verify_showed"
    FOREIGN KEY ("verification_id", "shown", "shown_amount", "currency")
    REFERENCES "verifications"("id", "outcome", "balance", "currency") ON DELETE NO ACTION ON UPDATE NO ACTION;

CREATE FUNCTION "check_proof"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    proof proofs;
    contributed BIGINT;
    is_shown BOOLEAN;
BEGIN
    SELECT * INTO proof FROM proofs WHERE order_id = NEW.order_id;
    SELECT sum(amount), bool_and(shown IS NOT NULL) INTO contributed, is_shown
        FROM proof_payments WHERE order_id = NEW.order_id;
    IF contributed <> proof.amount THEN
        RAISE EXCEPTION 'the payments of the proof of % add up to %, and not to %', NEW.order_id, contributed, proof.amount
            USING ERRCODE = 'check_violation', CONSTRAINT = 'proofs_add_up';
    END IF;
    IF proof.accepted_by IS NULL AND NOT is_shown THEN
        RAISE EXCEPTION 'verify did not show each payment of the proof of %, and no person accepted it', NEW.order_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'proofs_are_shown_or_accepted';
    END IF;
    RETURN NULL;
END
$$;

-- At COMMIT, when all payments of the proof are written.
CREATE CONSTRAINT TRIGGER "proofs_add_up" AFTER INSERT ON "proof_payments" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION "check_proof"();
CREATE TRIGGER "proofs_are_written_once" BEFORE UPDATE OR DELETE ON "proofs"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "proof_payments_are_written_once" BEFORE UPDATE OR DELETE ON "proof_payments"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();

-- Retention deletes unpaid orders (RETAIN_UNPAID_DAYS). What was written once is deleted only with an order that never
-- had money or a case: whatever the program does, no evidence about money can be deleted.
CREATE FUNCTION "never_had_money"("the_order" TEXT) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT the_order IS NOT NULL
        AND NOT EXISTS (SELECT FROM proofs WHERE order_id = the_order)
        AND NOT EXISTS (SELECT FROM refunds WHERE order_id = the_order)
        AND NOT EXISTS (SELECT FROM cases WHERE order_id = the_order)
        AND NOT EXISTS (SELECT FROM payments p JOIN cases c ON c.reference = p.reference WHERE p.order_id = the_order)
        AND NOT EXISTS (
            SELECT FROM payments p JOIN ledgers l ON l.reference = p.reference
            WHERE p.order_id = the_order AND greatest(l.verify_most_received, l.history_most_received, l.verify_outflow,
                l.history_outflow) > 0)
$$;

-- Nor does an order go while one of its payments waits for an answer, or a message of it was not sent.
CREATE FUNCTION "may_be_removed"("the_order" TEXT) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT never_had_money(the_order)
        AND NOT EXISTS (
            SELECT FROM messages WHERE order_id = the_order AND sent_at IS NULL
                AND (next_try_at IS NOT NULL OR held_by IS NOT NULL OR tries > 0))
        AND NOT EXISTS (
            SELECT FROM payments WHERE order_id = the_order AND (next_check_at IS NOT NULL OR notified_at IS NOT NULL
                OR leased_until > clock_timestamp() OR unreadable_since IS NOT NULL))
$$;

-- The program may run as a role that owns no table (src/platform/grants.ts). Only an owner may ANALYZE, and a run of the
-- reconciliation must: this does it with the rights of the owner.
CREATE FUNCTION "analyze_history_rows"() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT
    AS 'ANALYZE history_rows';
