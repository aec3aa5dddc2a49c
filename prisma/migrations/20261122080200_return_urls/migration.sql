-- Adds only: the version before this one goes on working beside the new one, and sends every shopper to one address.

-- Which of the configured storefront addresses the shopper returns to. Null: none was chosen, the first one counts.
ALTER TABLE orders ADD COLUMN return_url text;
