import { createHash } from 'node:crypto';

import { code } from 'currency-codes';
import type { Response } from 'express';

import type { Faults } from './faults.ts';
import type { Ledger, Transaction } from './ledger.ts';
import { amountText } from './money.ts';

const STYLE = `
body { margin: 0; background: #f3f4f6; color: #1f2937; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 24rem; margin: 3rem auto; padding: 2rem; background: #fff; border-radius: .75rem; box-shadow: 0 1px 4px #0003 }
main.wide { max-width: 64rem; overflow-x: auto }
h1 { margin: 0 0 1rem; font-size: 1.25rem }
h2 { font-size: 1rem }
dl { margin: 0 0 1.5rem }
dt, .note { color: #4b5563; font-size: .875rem }
dd { margin: 0 0 .5rem; overflow-wrap: anywhere }
.amount { font-size: 1.5rem; font-weight: 600 }
button { width: 100%; margin-top: .5rem; padding: .75rem; border: 1px solid #6b7280; border-radius: .5rem; background: #fff; color: inherit; font: inherit; cursor: pointer }
button.pay { background: #14532d; border-color: #14532d; color: #fff }
table { width: 100%; border-collapse: collapse; font-size: .875rem; white-space: nowrap }
th, td { padding: .25rem .5rem; border-bottom: 1px solid #e5e7eb; text-align: left }
@media (max-width: 30rem) { main { margin: 0; border-radius: 0 } }
`;

// The form redirects to the shop, and browsers apply form-action to redirects, too. It therefore
// allows any target.
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self' http: https:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** @param content HTML, with everything from outside escaped */
export function sendPage(res: Response, status: number, title: string, content: string, look = ''): void {
  const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';
  const head = `<head><meta charset="utf-8">${viewport}<title>${title}</title><style>${STYLE}</style></head>`;
  const body = `<body><main class="${look}"><h1>${title}</h1>${content}</main></body>`;
  res.status(status).set(HEADERS).type('html').send(`<!doctype html><html lang="en">${head}${body}</html>`);
}

/** The hosted page of a payment, before and after the payment is decided. */
export function checkoutContent({ reference, email, redirectUrl, rows: [row] }: Transaction): string {
  const facts = `<dl>
    <dt>Amount</dt><dd class="amount">${money(row)}</dd>
    <dt>E-mail</dt><dd>${escaped(email)}</dd>
    <dt>Reference</dt><dd>${escaped(reference)}</dd></dl>`;
  const back = redirectUrl === null ? '' : `<p><a href="${escaped(redirectUrl)}">Back to the shop</a></p>`;
  if (row.status !== 'PENDING') return `${facts}<p>This payment is decided: ${escaped(row.status)}</p>${back}`;
  return `${facts}<form method="post" aria-label="Payment">
    <button class="pay" name="action" value="pay">Pay</button>
    <button name="action" value="decline">Decline</button>
    <button name="action" value="cancel">Cancel</button></form>
    <p class="note">This is a sandbox: no money moves. Cancel decides nothing and returns to the shop.</p>`;
}

/** The newest hundred rows and the pending faults. */
export function overviewContent(ledger: Ledger, faults: Faults): string {
  const rows = ledger.rows.slice(-100).reverse();
  const charges = rows.map(({ transaction: { reference, email }, status, refunded, createdAt, ...row }) => [
    `<a href="/pay/${encodeURIComponent(reference)}">${escaped(reference)}</a>`,
    ...[email, status, createdAt, amountText(refunded)].map(escaped),
    money(row),
  ]);
  const waiting = [...faults].map(([id, { endpoint, reference, kind, times, hits }]) =>
    [String(id), endpoint, reference ?? 'any', kind, times === 0 ? 'all' : String(times - hits)].map(escaped),
  );
  return (
    `<h2>Transactions</h2>${table(['Reference', 'E-mail', 'Status', 'Created', 'Refunded', 'Amount'], charges)}` +
    `<h2>Faults</h2>${table(['Id', 'Endpoint', 'Reference', 'Kind', 'Calls'], waiting)}`
  );
}

function table(heads: readonly string[], rows: readonly string[][]): string {
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr>${lines.join('')}</table>`;
}

function money({ amount, currency }: { amount: bigint; currency: string }): string {
  const [whole = '', fraction = ''] = amountText(amount).split('.');
  const decimals = fraction.padEnd(code(currency)?.digits ?? 0, '0');
  return escaped(`${[whole, decimals].filter(Boolean).join('.')} ${currency}`);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
