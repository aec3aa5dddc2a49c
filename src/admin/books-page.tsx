import type { VNode } from 'preact';
import type { Request, Response } from 'express';
import { Action, AdminPage, Allowed, type Frame } from './layout/frame.tsx';
import { Button, Field } from './layout/parts.tsx';
import { NOT_A_PERSON } from '../cases/resolution.ts';
import { systemClock } from '../platform/clock.ts';
import { sendPage } from '../platform/html.tsx';
import type { Database } from '../platform/database/database.ts';
import { UNSEEN_SEC } from '../platform/database/reads.ts';
import { parseRunId } from '../platform/ids.ts';
import { Problem } from '../platform/problem.ts';
import { openBooks } from '../reporting/books.ts';
import { noteDisclosure, monthBefore, monthOf, type Period } from '../reporting/books.sql.ts';
import { EXPORTS, isExport, openExport, openMatched } from '../reporting/exports.ts';
import { frameOf, sendCsv, type AdminParts } from './pages.ts';
import { matchOf } from '../reporting/order-search.sql.ts';
import { readSearch } from './orders/search.ts';

type Props = {
  frame: Frame;
  /** Like `2026-01`: the month that the forms begin with. */
  month: string;
  /** Whether the form for whole addresses was sent without a name or a reason. */
  isUnnamed: boolean;
};

/** The month for the accountant, as files. */
function BooksPage({ frame, month, isUnnamed }: Props): VNode {
  return (
    <AdminPage frame={frame} title="Books" here="/admin/books">
      <p class="none">
        Every confirmed payment, refund, money held or decided about, and payout to your bank in a month, by
        days in UTC. Over all time they add up to the reconciliation.
      </p>
      <form method="get" action="/admin/books.csv" class="filters">
        <MonthField id="month" month={month} />
        <Button>Rows</Button>
        <Button name="totals" value="yes">
          Totals
        </Button>
      </form>
      <Allowed visitor={frame.visitor} action="books.csv">
        <section aria-labelledby="whole">
          <h2 id="whole">With whole addresses</h2>
          <p class="none">
            Addresses of shoppers are masked. Who takes them whole says why, and that is kept.
          </p>
          {isUnnamed && <p class="alarm">It needs your name and a reason.</p>}
          <Action
            visitor={frame.visitor}
            address="/admin/books.csv"
            id="disclosure"
            button="Rows with addresses"
          >
            <MonthField id="whole-month" month={month} />
          </Action>
        </section>
      </Allowed>
      <section aria-labelledby="other">
        <h2 id="other">Everything else</h2>
        <ul>
          {['orders', 'payments', 'suspense', 'findings', 'runs'].map((name) => (
            <li key={name}>
              <a href={`/admin/exports/${name}`}>All {name}</a>
            </li>
          ))}
        </ul>
      </section>
    </AdminPage>
  );
}

function MonthField({ id, month }: { id: string; month: string }): VNode {
  return (
    <Field id={id} label="Month" name="month" type="month" required pattern="\d{4}-\d{2}" value={month} />
  );
}

const DAY_MS = 86_400_000;

type Shown = { database: Database };
type BooksWanted = { month: unknown; part: 'rows' | 'totals'; withCustomers: boolean };

/** What an accountant or a spreadsheet takes away. Looking is enough, but for whole addresses. */
export function bookRoutes(parts: AdminParts): void {
  const { database: primary, gateway, guard, form, router, show } = parts;
  const { mode } = gateway;

  function sendPageOf(req: Request, res: Response, isUnnamed = false): void {
    const month = monthBefore(systemClock.now());
    sendPage(res, BooksPage({ frame: frameOf(guard, mode, req), month, isUnnamed }), isUnnamed ? 422 : 200);
  }
  async function sendBooks(res: Response, database: Database, wanted: BooksWanted): Promise<void> {
    const { month, part, withCustomers } = wanted;
    const period = periodOf(month);
    const books = openBooks(database, gateway.dialect, { mode, period, withCustomers });
    const sheet = part === 'rows' ? books.sheet : books.totalsSheet;
    await sendCsv(res, `books-${mode}-${String(month)}${part === 'rows' ? '' : '-totals'}`, sheet);
  }

  router.get('/admin/books', guard.requireLogin, (req, res) => {
    sendPageOf(req, res);
  });
  show(
    '/admin/books.csv',
    (req, res, { database }) => {
      const part = req.query.totals === undefined ? 'rows' : 'totals';
      return sendBooks(res, database, { month: req.query.month, part, withCustomers: false });
    },
    UNSEEN_SEC,
  );
  router.post('/admin/books.csv', guard.requireLogin, form, guard.requireForm, async (req, res) => {
    const fields = new URLSearchParams(String(req.body));
    const [to = '', note = ''] = ['by', 'note'].map((name) => fields.get(name)?.trim());
    const period = periodOf(fields.get('month'));
    if (to === '' || note === '' || NOT_A_PERSON.includes(to)) {
      sendPageOf(req, res, true);
      return;
    }
    await noteDisclosure(primary, { mode, to, note, period });
    await sendBooks(res, primary, { month: fields.get('month'), part: 'rows', withCustomers: true });
  });

  async function sendMatched(req: Request, res: Response, { database }: Shown): Promise<void> {
    const run = parseRunId(req.query.run);
    const matched = run === null ? null : await openMatched(database, mode, run);
    if (matched === null) throw new Problem('not-found');
    await sendCsv(res, `matched-${matched.run}`, matched.sheet);
  }
  show('/admin/exports/matched', sendMatched, UNSEEN_SEC);

  async function sendExport(req: Request, res: Response, { database }: Shown): Promise<void> {
    const name = String(req.params.name);
    if (!isExport(name)) throw new Problem('not-found');
    // What the orders page understands: a filter that is shown there holds here.
    const { words, currency, from, to } = readSearch(req.query);
    const statuses: readonly string[] = EXPORTS[name].statuses;
    const status = statuses.find((one) => one === req.query.status) ?? null;
    const until = to === null ? null : new Date(Date.parse(to) + DAY_MS);
    const period = { since: from === null ? null : new Date(from), until };
    const match = words === null ? null : await matchOf(database, mode, words);
    const sheet = openExport(database, name, { mode, period, status, currency, match });
    await sendCsv(res, `${name}-${mode}`, sheet);
  }
  show('/admin/exports/:name', sendExport, UNSEEN_SEC);
}

/** @throws {Problem} 404 for what is no month */
function periodOf(month: unknown): Period {
  const period = typeof month === 'string' ? monthOf(month) : null;
  if (period === null) throw new Problem('not-found');
  return period;
}
