import { pool, serveSample } from './sample.ts';

/* The sample with node-postgres: one table, and one statement per step. */

await pool.query(`
  CREATE TABLE products (sku text PRIMARY KEY, amount float NOT NULL, currency text NOT NULL);
  INSERT INTO products VALUES ('ankara-tote', 850000, 'NGN');
  CREATE TABLE orders (reference text PRIMARY KEY, email text NOT NULL, amount bigint NOT NULL, currency text NOT NULL,
    status text NOT NULL DEFAULT 'pending', checkout_url text, paid_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now())`);

const INSERT = 'INSERT INTO orders (reference, email, amount, currency) VALUES ($1, $2, $3, $4)';

serveSample({
  price: async (sku) => {
    const select = 'SELECT amount, currency FROM products WHERE sku = $1';
    const [price] = (await pool.query<{ amount: number; currency: string }>(select, [sku])).rows;
    if (price === undefined) throw new Error(`there is no ${sku}`);
    return price;
  },
  insert: ({ reference, email, amount, currency }) => pool.query(INSERT, [reference, email, amount, currency]),
  open: (reference, url) => pool.query('UPDATE orders SET checkout_url = $2 WHERE reference = $1', [reference, url]),
  pay: (reference) =>
    pool.query(`UPDATE orders SET status = 'paid', paid_at = now() WHERE reference = $1`, [reference]),
});
