-- Version 1.1, part 1. A database of 1.0.0 keeps all its rows, and a server of 1.0.0 may still run beside it.

-- When an order last changed in a way that its view shows. Existing orders count as changed now, so that a shop's own
-- system that asks for changes reads each of them once more, and misses none.
ALTER TABLE "orders" ADD COLUMN "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
ALTER TABLE "orders" ALTER COLUMN "updated_at" SET DEFAULT clock_timestamp();
CREATE INDEX "orders_by_change" ON "orders"("updated_at");

-- A signed webhook that was not seen before goes before all other hints, which anybody can give.
ALTER TABLE "payments" ADD COLUMN "signed_hint" BOOLEAN NOT NULL DEFAULT false;

-- Orders that may still be paid, for the deadlines; and unpaid ones that have ended, for retention.
CREATE INDEX "orders_open" ON "orders"("created_at") WHERE ((ended_at IS NULL) AND (released_reference IS NULL));
CREATE INDEX "orders_ended_unpaid" ON "orders"("ended_at") WHERE (released_reference IS NULL);
CREATE INDEX "idempotency_keys_of_order_index" ON "idempotency_keys"("order_id");

-- Retention deletes unpaid orders (RETAIN_UNPAID_DAYS). What was written once is deleted only with an order that never
-- had money or a case: whatever the program does, no evidence about money can be deleted.
CREATE FUNCTION "never_had_money"("the_order" TEXT) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT the_order IS NOT NULL
        AND NOT EXISTS (SELECT FROM releases WHERE order_id = the_order)
        AND NOT EXISTS (SELECT FROM refunds WHERE order_id = the_order)
        AND NOT EXISTS (SELECT FROM cases WHERE order_id = the_order)
        AND NOT EXISTS (SELECT FROM payments p JOIN cases c ON c.reference = p.reference WHERE p.order_id = the_order)
        AND NOT EXISTS (
            SELECT FROM payments p JOIN money m ON m.reference = p.reference
            WHERE p.order_id = the_order AND greatest(m.came, m.went, m.verify_shows, m.list_shows, m.list_beyond) > 0)
$$;

-- A ledger with money stays, so that nothing can be deleted by deleting its ledger first.
CREATE TRIGGER "money_stays" BEFORE DELETE ON "money"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();

-- Nor does an order go while one of its payments waits for an answer, or a message of it was not sent.
CREATE FUNCTION "may_be_removed"("the_order" TEXT) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT never_had_money(the_order)
        AND NOT EXISTS (
            SELECT FROM messages WHERE order_id = the_order AND sent_at IS NULL
                AND (next_try_at IS NOT NULL OR held_by IS NOT NULL OR tries > 0))
        AND NOT EXISTS (
            SELECT FROM payments WHERE order_id = the_order AND (next_check_at IS NOT NULL OR hinted_at IS NOT NULL
                OR leased_until > clock_timestamp() OR unreadable_since IS NOT NULL))
$$;

CREATE OR REPLACE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - 'body' = to_jsonb(OLD) - 'body' AND to_jsonb(NEW) ->> 'body' IS NULL THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'journal' AND never_had_money(to_jsonb(OLD) ->> 'order_id') THEN
        RETURN OLD;
    END IF;
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('verifications', 'money') AND never_had_money(
        (SELECT order_id FROM payments WHERE reference = to_jsonb(OLD) ->> 'reference')) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is written once: it takes no % ', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$$;
