-- Constraints that were added NOT VALID hold for new rows; from here on they hold for every row. VALIDATE reads the
-- table under SHARE UPDATE EXCLUSIVE, beside which shoppers and workers go on reading and writing: only another
-- change of the table's schema waits. A row that contradicts fails the migration, which then has changed nothing
-- (docs/runbook.md#a-constraint-that-a-row-contradicts).
-- Two stay NOT VALID, because closed items of earlier versions may contradict them and cannot be changed:
-- refund_has_a_number and surplus_goes_back_once.
ALTER TABLE orders VALIDATE CONSTRAINT cancelled_by_somebody, VALIDATE CONSTRAINT expired_for_good,
  VALIDATE CONSTRAINT orders_status_check, VALIDATE CONSTRAINT pay_by_is_near;
ALTER TABLE order_lines VALIDATE CONSTRAINT goods_cost_money;
ALTER TABLE releases VALIDATE CONSTRAINT released_on_acceptance, VALIDATE CONSTRAINT released_on_one_proof,
  VALIDATE CONSTRAINT releases_delivery_check;
ALTER TABLE events VALIDATE CONSTRAINT events_type_check;
ALTER TABLE suspense_items VALIDATE CONSTRAINT decision_is_known;
