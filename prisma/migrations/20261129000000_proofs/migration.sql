-- Version 1.1, part 2. An order can be paid in parts: its proof of payment has one row for each payment that contributes.
-- Columns and values get the names of the glossary in docs/order-life.md.
--
-- What the database promises about paid orders from now on:
--  1. An order is paid exactly when it names the payment that completed its price, and its proof names that payment, too.
--  2. The payments of a proof add up to its amount. Verify showed exactly what each of them contributes, and the amount
--     is the price; or a person's name is on the proof.
--  3. One proof per order, and one contribution per payment, and per mode and id of the service.

ALTER TABLE "orders" DROP CONSTRAINT "orders_paid_by_their_release";
ALTER TABLE "orders" RENAME COLUMN "released_reference" TO "paid_reference";
ALTER TABLE "orders" RENAME CONSTRAINT "orders_paid_are_released" TO "orders_paid_name_their_payment";
ALTER TABLE "orders" ADD COLUMN "part_paid" BIGINT NOT NULL DEFAULT 0,
    ADD CONSTRAINT "orders_part_paid" CHECK ("part_paid" >= 0);
ALTER INDEX "orders_released_key" RENAME TO "orders_paid_key";
CREATE UNIQUE INDEX "orders_currency_key" ON "orders"("id", "mode", "currency");

ALTER TABLE "payments" RENAME COLUMN "hinted_at" TO "notified_at";
ALTER TABLE "payments" RENAME COLUMN "signed_hint" TO "signed_notification";
ALTER TABLE "verifications" RENAME COLUMN "shows" TO "balance";
ALTER INDEX "verifications_shows_key" RENAME TO "verifications_balance_key";
ALTER TYPE "payment_status" RENAME VALUE 'foreign' TO 'unmatched';

-- A payment asks for the price, or for what is still due.
ALTER TABLE "payments" DROP CONSTRAINT "payments_of_order",
    ADD CONSTRAINT "payments_of_order" FOREIGN KEY ("order_id", "mode", "currency")
    REFERENCES "orders"("id", "mode", "currency") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "releases" RENAME TO "proofs";
ALTER TABLE "proofs" DROP CONSTRAINT "releases_of_payment", DROP CONSTRAINT "releases_of_order",
    DROP CONSTRAINT "releases_pay_their_order", DROP CONSTRAINT "releases_are_proven_or_accepted";
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

CREATE OR REPLACE FUNCTION "never_had_money"("the_order" TEXT) RETURNS boolean LANGUAGE sql STABLE AS $$
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

CREATE OR REPLACE FUNCTION "may_be_removed"("the_order" TEXT) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT never_had_money(the_order)
        AND NOT EXISTS (
            SELECT FROM messages WHERE order_id = the_order AND sent_at IS NULL
                AND (next_try_at IS NOT NULL OR held_by IS NOT NULL OR tries > 0))
        AND NOT EXISTS (
            SELECT FROM payments WHERE order_id = the_order AND (next_check_at IS NOT NULL OR notified_at IS NOT NULL
                OR leased_until > clock_timestamp() OR unreadable_since IS NOT NULL))
$$;
