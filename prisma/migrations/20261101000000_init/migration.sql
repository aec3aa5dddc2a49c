-- Everything that version 1 keeps. What the database promises, whatever the program does:
--
--  1. An order is paid exactly when it names the reference that released it, and that release names the order.
--  2. A release has its payment's price, currency and mode, and verify showed exactly that, or a person's name is on it.
--  3. One release per order, per reference, per verification, and per mode and id of the service.
--  4. Of no money is more earned, kept or sent back than came, and no more refunded than was earned.
--  5. What came less what went is the most that a source shows as come, less the most that a source shows as gone.
--  6. One open case per mode, reference and currency; one open stop per mode and currency.
--  7. Verifications, releases, refunds and the journal are never changed or deleted; only bodies are emptied.
--  8. The journal of an order is a chain: each entry holds the hash of the one before it.
-- 1 to 6 are keys and CHECKs, 7 and 8 the triggers at the end, which decide nothing.

CREATE TYPE "mode" AS ENUM ('test', 'live');
CREATE TYPE "order_status" AS ENUM ('pending', 'paid', 'failed', 'expired', 'review', 'cancelled');
CREATE TYPE "payment_status" AS ENUM ('sending', 'open', 'paid', 'review', 'failed', 'expired', 'refused', 'foreign');
CREATE TYPE "outcome" AS ENUM ('paid', 'pending', 'failed', 'expired', 'reversed', 'unknown', 'unproven', 'not_found', 'unreadable');

CREATE TABLE "products" (
    "sku" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "image" TEXT NOT NULL DEFAULT '',
    "unit_amount" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "position" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "products_pkey" PRIMARY KEY ("sku"),
    CONSTRAINT "products_have_a_price" CHECK ("unit_amount" > 0)
);

CREATE TABLE "orders" (
    "id" TEXT NOT NULL,
    "mode" "mode" NOT NULL,
    "external_id" TEXT,
    "email" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "status" "order_status" NOT NULL DEFAULT 'pending',
    "content_hash" BYTEA,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "return_url" TEXT,
    "pay_by" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "ended_by" TEXT,
    "end_reason" TEXT,
    "released_reference" TEXT,
    "paid_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "orders_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "orders_cost_something" CHECK ("amount" > 0),
    CONSTRAINT "orders_paid_are_released" CHECK (("status" = 'paid') = ("released_reference" IS NOT NULL)),
    CONSTRAINT "orders_paid_at" CHECK (("paid_at" IS NOT NULL) = ("released_reference" IS NOT NULL)),
    CONSTRAINT "orders_ended_by" CHECK (("ended_at" IS NULL) = ("ended_by" IS NULL)),
    CONSTRAINT "orders_cancelled_have_ended" CHECK ("status" <> 'cancelled' OR "ended_at" IS NOT NULL)
);

CREATE TABLE "order_lines" (
    "order_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "sku" TEXT,
    "description" TEXT NOT NULL,
    "unit_amount" BIGINT NOT NULL,
    "quantity" INTEGER NOT NULL,

    CONSTRAINT "order_lines_pkey" PRIMARY KEY ("order_id", "position"),
    CONSTRAINT "order_lines_quantity" CHECK ("quantity" > 0)
);

CREATE TABLE "payments" (
    "reference" TEXT NOT NULL,
    "mode" "mode" NOT NULL,
    "order_id" TEXT,
    "amount" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "status" "payment_status" NOT NULL,
    "reason" TEXT,
    "checkout_url" TEXT,
    "opened_at" TIMESTAMPTZ(3),
    "answered_at" TIMESTAMPTZ(3),
    "next_check_at" TIMESTAMPTZ(3) DEFAULT (clock_timestamp() + '00:00:15'::interval),
    "leased_until" TIMESTAMPTZ(3),
    "hinted_at" TIMESTAMPTZ(3),
    "quiet_checks" INTEGER NOT NULL DEFAULT 0,
    "unreadable_since" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "payments_pkey" PRIMARY KEY ("reference"),
    CONSTRAINT "payments_foreign_have_no_order" CHECK (("status" = 'foreign') = ("order_id" IS NULL))
);

CREATE TABLE "verifications" (
    "id" BIGSERIAL NOT NULL,
    "reference" TEXT NOT NULL,
    "outcome" "outcome" NOT NULL,
    "word" TEXT,
    "amount" BIGINT,
    "refunded" BIGINT,
    "shows" BIGINT,
    "currency" TEXT,
    "service_id" TEXT,
    "doubt" TEXT,
    "http_status" INTEGER NOT NULL,
    "body" BYTEA,
    "digest" BYTEA NOT NULL,
    "cause" TEXT NOT NULL,
    "asked_at" TIMESTAMPTZ(3) NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "verifications_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "verifications_paid_show_money" CHECK ("outcome" <> 'paid' OR ("shows" IS NOT NULL AND "currency" IS NOT NULL)),
    CONSTRAINT "verifications_others_show_none" CHECK ("outcome" IN ('paid', 'reversed') OR "shows" IS NULL)
);

CREATE TABLE "money" (
    "reference" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "verify_shows" BIGINT,
    "verify_gone" BIGINT NOT NULL DEFAULT 0,
    "list_shows" BIGINT,
    "list_gone" BIGINT NOT NULL DEFAULT 0,
    "came" BIGINT NOT NULL DEFAULT 0,
    "went" BIGINT NOT NULL DEFAULT 0,
    "earned" BIGINT NOT NULL DEFAULT 0,
    "kept" BIGINT NOT NULL DEFAULT 0,
    "send_back" BIGINT NOT NULL DEFAULT 0,
    "refunded" BIGINT NOT NULL DEFAULT 0,
    "send_back_elsewhere" BIGINT NOT NULL DEFAULT 0,
    "refunded_elsewhere" BIGINT NOT NULL DEFAULT 0,
    "lost" BIGINT NOT NULL DEFAULT 0,
    "by_itself" BIGINT NOT NULL DEFAULT 0,
    "list_rolled" BIGINT NOT NULL DEFAULT 0,
    "list_beyond" BIGINT NOT NULL DEFAULT 0,
    "list_word" TEXT,
    "list_doubted" BOOLEAN NOT NULL DEFAULT false,
    "list_heard_at" TIMESTAMPTZ(3),
    CONSTRAINT "money_pkey" PRIMARY KEY ("reference", "currency"),
    CONSTRAINT "money_is_not_negative" CHECK (least("came", "went", "earned", "kept", "send_back", "refunded",
        "send_back_elsewhere", "refunded_elsewhere", "lost", "by_itself", "verify_shows", "verify_gone", "list_shows",
        "list_gone", "list_rolled", "list_beyond") >= 0),
    -- A CHECK that is null passes: hence coalesce.
    CONSTRAINT "money_is_what_is_shown" CHECK ("came" - "went" = greatest(coalesce("verify_shows", 0) + "verify_gone",
        coalesce("list_shows", 0) + "list_gone") - greatest("verify_gone", "list_gone")),
    CONSTRAINT "money_is_spent_once" CHECK ("earned" + "kept" + "send_back" <= "came"),
    CONSTRAINT "money_refunded_was_earned" CHECK ("refunded" <= "earned"),
    CONSTRAINT "money_elsewhere_is_a_part" CHECK ("refunded_elsewhere" <= "refunded" AND "send_back_elsewhere" <= "send_back"
        AND "by_itself" <= "send_back"),
    CONSTRAINT "money_gone_was_ours" CHECK ("refunded" - "refunded_elsewhere" + "lost" <= "earned" + "kept")
);

CREATE TABLE "releases" (
    "order_id" TEXT NOT NULL,
    "mode" "mode" NOT NULL,
    "reference" TEXT NOT NULL,
    "verification_id" BIGINT NOT NULL,
    "price" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "shown" "outcome",
    "shown_amount" BIGINT,
    "accepted_by" TEXT,
    "note" TEXT,
    "service_id" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "releases_pkey" PRIMARY KEY ("order_id"),
    CONSTRAINT "releases_earn_something" CHECK ("amount" > 0),
    CONSTRAINT "releases_are_proven_or_accepted" CHECK (coalesce("accepted_by", '') <> ''
        OR ("shown" = 'paid' AND "shown_amount" = "price" AND "amount" = "price") IS TRUE)
);

CREATE TABLE "refunds" (
    "id" BIGSERIAL NOT NULL,
    "order_id" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "elsewhere" BOOLEAN NOT NULL DEFAULT false,
    "reason" TEXT NOT NULL,
    "external_id" TEXT,
    "by" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "refunds_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "refunds_give_something_back" CHECK ("amount" > 0)
);

CREATE TABLE "cases" (
    "id" BIGSERIAL NOT NULL,
    "mode" "mode" NOT NULL,
    "reference" TEXT NOT NULL,
    "order_id" TEXT,
    "class" TEXT NOT NULL,
    "held" BIGINT NOT NULL DEFAULT 0,
    "missing" BIGINT NOT NULL DEFAULT 0,
    "currency" TEXT NOT NULL,
    "evidence" JSONB NOT NULL,
    "digest" BYTEA NOT NULL,
    "opened_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "closed_at" TIMESTAMPTZ(3),
    "closed_by" TEXT,
    "decision" TEXT,
    "covers" BYTEA,
    "note" TEXT,
    "number" TEXT,

    CONSTRAINT "cases_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "cases_closed_by" CHECK (("closed_at" IS NULL) = ("closed_by" IS NULL)),
    CONSTRAINT "cases_decided_are_closed" CHECK ("decision" IS NULL OR ("closed_at" IS NOT NULL AND "covers" IS NOT NULL))
);

CREATE TABLE "messages" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "mode" "mode" NOT NULL,
    "type" TEXT NOT NULL,
    "order_id" TEXT,
    "body" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "next_try_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),
    "first_try_at" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,
    "sent_at" TIMESTAMPTZ(3),
    "held_by" TEXT,
    "lifted_by" TEXT,
    "last_error" TEXT,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "webhooks" (
    "id" BIGSERIAL NOT NULL,
    "mode" "mode" NOT NULL,
    "digest" BYTEA NOT NULL,
    "body" BYTEA,
    "payment_references" TEXT[],
    "signature" TEXT NOT NULL,
    "reason" TEXT,
    "address" TEXT,
    "times" INTEGER NOT NULL DEFAULT 1,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "last_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "idempotency_keys" (
    "mode" "mode" NOT NULL,
    "key" BYTEA NOT NULL,
    "digest" BYTEA NOT NULL,
    "order_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("mode", "key")
);

CREATE TABLE "journal" (
    "id" BIGSERIAL NOT NULL,
    "order_id" TEXT,
    "reference" TEXT,
    "what" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    "counter" TEXT,
    "amount" BIGINT,
    "currency" TEXT,
    "data" JSONB NOT NULL DEFAULT '{}',
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "hash" BYTEA,

    CONSTRAINT "journal_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "journal_counters_grow" CHECK ("counter" IS NULL OR ("amount" > 0 AND "currency" IS NOT NULL) IS TRUE)
);

CREATE TABLE "runs" (
    "id" BIGSERIAL NOT NULL,
    "mode" "mode" NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "ended_at" TIMESTAMPTZ(3),
    "full" BOOLEAN NOT NULL,
    "verdict" TEXT,
    "checkpoint" JSONB,
    "report" JSONB,

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- Unlogged: a crash of the database empties it, and the next run reads the list again.
CREATE UNLOGGED TABLE "listed" (
    "id" BIGSERIAL NOT NULL,
    "mode" "mode" NOT NULL,
    "reference" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "shows" BIGINT NOT NULL,
    "gone" BIGINT NOT NULL,
    "status" "outcome" NOT NULL,
    "word" TEXT NOT NULL,
    "service_id" TEXT,

    CONSTRAINT "listed_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "stops" (
    "id" BIGSERIAL NOT NULL,
    "mode" "mode" NOT NULL,
    "what" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "ended_at" TIMESTAMPTZ(3),
    "ended_by" TEXT,

    CONSTRAINT "stops_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "settings" (
    "name" TEXT NOT NULL,
    "value" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "settings_pkey" PRIMARY KEY ("name")
);

CREATE TABLE "rate_limits" (
    "key" VARCHAR(255) NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "rate_limits_pkey" PRIMARY KEY ("key")
);

-- Promise 3, and the keys that the foreign keys below name.
CREATE UNIQUE INDEX "releases_reference_key" ON "releases"("reference");
CREATE UNIQUE INDEX "releases_order_reference_key" ON "releases"("order_id", "reference");
CREATE UNIQUE INDEX "releases_verification_key" ON "releases"("verification_id", "reference");
CREATE UNIQUE INDEX "releases_service_id_key" ON "releases"("mode", "service_id");
CREATE UNIQUE INDEX "orders_external_id_key" ON "orders"("mode", "external_id");
CREATE UNIQUE INDEX "orders_money_key" ON "orders"("id", "mode", "amount", "currency");
CREATE UNIQUE INDEX "orders_released_key" ON "orders"("id", "released_reference");
CREATE UNIQUE INDEX "payments_money_key" ON "payments"("reference", "order_id", "mode", "amount", "currency");
CREATE UNIQUE INDEX "verifications_reference_key" ON "verifications"("id", "reference");
CREATE UNIQUE INDEX "verifications_shows_key" ON "verifications"("id", "outcome", "shows", "currency");
CREATE UNIQUE INDEX "refunds_external_id_key" ON "refunds"("order_id", "external_id");
CREATE UNIQUE INDEX "messages_seq_key" ON "messages"("seq");
CREATE UNIQUE INDEX "webhooks_digest_key" ON "webhooks"("mode", "digest");
-- Promise 6.
CREATE UNIQUE INDEX "cases_one_open" ON "cases"("mode", "reference", "currency") WHERE (closed_at IS NULL);
CREATE UNIQUE INDEX "stops_one_open" ON "stops"("mode", "what") WHERE (ended_at IS NULL);

CREATE INDEX "orders_newest_first" ON "orders"("created_at" DESC, "id" DESC);
CREATE INDEX "orders_pay_by" ON "orders"("pay_by");
CREATE INDEX "payments_of_order_index" ON "payments"("order_id");
CREATE INDEX "payments_due" ON "payments"("next_check_at");
CREATE INDEX "verifications_newest" ON "verifications"("reference", "id");
CREATE INDEX "cases_of_reference" ON "cases"("reference");
CREATE INDEX "cases_of_order_index" ON "cases"("order_id");
CREATE INDEX "cases_by_age" ON "cases"("mode", "opened_at");
CREATE INDEX "messages_due" ON "messages"("next_try_at");
CREATE INDEX "messages_unsent" ON "messages"("seq") WHERE (sent_at IS NULL);
CREATE INDEX "messages_of_order_index" ON "messages"("order_id", "seq");
CREATE INDEX "webhooks_newest" ON "webhooks"("last_at");
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys"("created_at");
CREATE INDEX "journal_of_order_index" ON "journal"("order_id", "id");
CREATE INDEX "journal_by_time" ON "journal"("at");
CREATE INDEX "journal_of_money" ON "journal"("reference") WHERE (counter IS NOT NULL);
CREATE INDEX "runs_newest" ON "runs"("mode", "started_at");

-- Promise 1. Deferred: order and release are written in one transaction, and each names the other.
ALTER TABLE "orders" ADD CONSTRAINT "orders_paid_by_their_release" FOREIGN KEY ("id", "released_reference")
    REFERENCES "releases"("order_id", "reference") ON DELETE NO ACTION ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED;
-- Promise 2.
ALTER TABLE "releases" ADD CONSTRAINT "releases_of_order" FOREIGN KEY ("order_id") REFERENCES "orders"("id");
ALTER TABLE "releases" ADD CONSTRAINT "releases_of_payment" FOREIGN KEY ("reference", "order_id", "mode", "price", "currency")
    REFERENCES "payments"("reference", "order_id", "mode", "amount", "currency") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "releases" ADD CONSTRAINT "releases_of_verification" FOREIGN KEY ("verification_id", "reference")
    REFERENCES "verifications"("id", "reference") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "releases" ADD CONSTRAINT "releases_show_what_verify_showed" FOREIGN KEY ("verification_id", "shown", "shown_amount", "currency")
    REFERENCES "verifications"("id", "outcome", "shows", "currency") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_of_order" FOREIGN KEY ("order_id") REFERENCES "orders"("id");
ALTER TABLE "payments" ADD CONSTRAINT "payments_of_order" FOREIGN KEY ("order_id", "mode", "amount", "currency")
    REFERENCES "orders"("id", "mode", "amount", "currency") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "verifications" ADD CONSTRAINT "verifications_of_payment" FOREIGN KEY ("reference")
    REFERENCES "payments"("reference") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "money" ADD CONSTRAINT "money_of_payment" FOREIGN KEY ("reference") REFERENCES "payments"("reference");
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_of_order" FOREIGN KEY ("order_id") REFERENCES "orders"("id");
ALTER TABLE "cases" ADD CONSTRAINT "cases_of_payment" FOREIGN KEY ("reference") REFERENCES "payments"("reference");
ALTER TABLE "cases" ADD CONSTRAINT "cases_of_order" FOREIGN KEY ("order_id") REFERENCES "orders"("id");
ALTER TABLE "messages" ADD CONSTRAINT "messages_of_order" FOREIGN KEY ("order_id") REFERENCES "orders"("id");
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_of_order" FOREIGN KEY ("order_id")
    REFERENCES "orders"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "journal" ADD CONSTRAINT "journal_of_order" FOREIGN KEY ("order_id") REFERENCES "orders"("id");

-- Promise 7. Retention may empty a body, and nothing else of the row may change with it.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - 'body' = to_jsonb(OLD) - 'body' AND to_jsonb(NEW) ->> 'body' IS NULL THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is written once: it takes no % ', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER "verifications_are_written_once" BEFORE UPDATE OR DELETE ON "verifications"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "releases_are_written_once" BEFORE UPDATE OR DELETE ON "releases"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "refunds_are_written_once" BEFORE UPDATE OR DELETE ON "refunds"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "journal_is_written_once" BEFORE UPDATE OR DELETE ON "journal"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();

-- Promise 8. The writer holds the order's lock, so nothing comes between an entry and its predecessor.
CREATE FUNCTION "chain_journal"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.order_id IS NOT NULL THEN
        NEW.hash := sha256(
            coalesce((SELECT hash FROM journal WHERE order_id = NEW.order_id ORDER BY id DESC LIMIT 1), ''::bytea)
            || convert_to(jsonb_build_array(NEW.id, NEW.order_id, NEW.reference, NEW.what, NEW."by", NEW.counter,
                NEW.amount, NEW.currency, NEW.data, extract(epoch FROM NEW.at))::text, 'UTF8'));
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER "journal_is_a_chain" BEFORE INSERT ON "journal"
    FOR EACH ROW EXECUTE FUNCTION "chain_journal"();
