-- What the service is asked for is what was ordered, whoever writes: an order keeps its price and the id of its release,
-- its lines stay as the shopper saw them, and a payment stays the attempt that it is, of the order that it is of.
CREATE TRIGGER orders_cost_the_same BEFORE UPDATE OF id, mode, amount, currency, planned_release_id ON orders FOR EACH ROW
  WHEN ((OLD.id, OLD.mode, OLD.amount, OLD.currency, OLD.planned_release_id)
    IS DISTINCT FROM (NEW.id, NEW.mode, NEW.amount, NEW.currency, NEW.planned_release_id))
  EXECUTE FUNCTION refuse_change('an order costs what it was placed for');

CREATE TRIGGER order_lines_are_frozen BEFORE UPDATE OR DELETE ON order_lines FOR EACH ROW
  EXECUTE FUNCTION refuse_change('the shopper saw these lines');
CREATE TRIGGER order_lines_are_not_emptied BEFORE TRUNCATE ON order_lines FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('the shopper saw these lines');

CREATE TRIGGER payments_are_of_one_order BEFORE UPDATE OF reference, order_id, mode, amount, currency ON payments FOR EACH ROW
  WHEN ((OLD.reference, OLD.order_id, OLD.mode, OLD.amount, OLD.currency)
    IS DISTINCT FROM (NEW.reference, NEW.order_id, NEW.mode, NEW.amount, NEW.currency))
  EXECUTE FUNCTION refuse_change('the service was asked for this payment');
CREATE TRIGGER payments_stay BEFORE DELETE ON payments FOR EACH ROW
  EXECUTE FUNCTION refuse_change('money may come for it');
CREATE TRIGGER payments_are_not_emptied BEFORE TRUNCATE ON payments FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('money may come for them');
-- Or money that was refunded, kept or written off pays an order all the same.
CREATE TRIGGER payments_stay_decided BEFORE UPDATE OF decided_at ON payments FOR EACH ROW
  WHEN (OLD.decided_at IS NOT NULL AND NEW.decided_at IS NULL)
  EXECUTE FUNCTION refuse_change('a person has decided about its money');

CREATE TRIGGER findings_are_not_emptied BEFORE TRUNCATE ON findings FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('findings are kept');
