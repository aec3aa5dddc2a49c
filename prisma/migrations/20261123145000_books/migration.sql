-- Whole addresses of shoppers that left this program in a file: who took them, of which days, and why.
CREATE TABLE disclosures (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mode         text NOT NULL CHECK (mode IN ('test', 'live')),
  disclosed_at timestamptz NOT NULL DEFAULT now(),
  disclosed_to text NOT NULL,
  note         text NOT NULL,
  -- The period of the books; null: without that end.
  since        timestamptz,
  until        timestamptz
);
CREATE TRIGGER disclosures_are_frozen BEFORE UPDATE OR DELETE ON disclosures
  FOR EACH ROW EXECUTE FUNCTION refuse_change('what was disclosed is kept');
CREATE TRIGGER disclosures_are_not_emptied BEFORE TRUNCATE ON disclosures
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('what was disclosed is kept');
