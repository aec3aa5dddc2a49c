import type { ComponentChildren, VNode } from 'preact';
import type { View } from '../custom/days.ts';
import type { Problem } from '../platform/problem.ts';
import { amountText, write } from '../reporting/words.ts';
import { momentText, tell, type ShownOrder, type State, type Told, type Words } from './told.ts';

/** What all pages need. `home` is the address of the shop, or null if it is not known. */
export type Site = { words: Words; home: string | null; isTest: boolean };

/** Without scripts, the browser reloads a waiting page after this time. */
const REFRESH_SEC = 10;

type FrameProps = Site & { title: string; order?: ShownOrder; isLive?: boolean; children: ComponentChildren };

export function Frame({ words, home, isTest, title, order, isLive = false, children }: FrameProps): VNode {
  const { language, shop, frame } = words;
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{`${title} · ${shop.name}`}</title>
        <link rel="stylesheet" href="/style.css" />
        <link rel="stylesheet" href="/shop.css" />
        {isLive && <script type="module" src="/order-page.js" />}
        {isLive && (
          <noscript>
            <meta http-equiv="refresh" content={String(REFRESH_SEC)} />
          </noscript>
        )}
      </head>
      <body class="shop">
        <header>
          <b>{home === null ? shop.name : <a href={home}>{shop.name}</a>}</b>
          {isTest && <span class="badge warn">{frame.test}</span>}
        </header>
        <main data-order={order?.id} data-status={order?.status}>
          {children}
        </main>
        {home !== null && (
          <footer>
            <a href={home}>{frame.back}</a>
          </footer>
        )}
      </body>
    </html>
  );
}

const TONES: Partial<Record<State, string>> = {
  paid: 'good',
  twice: 'good',
  twiceRefunded: 'good',
  muchRefunded: 'good',
  extraBack: 'good',
  extraKept: 'good',
  waiting: 'warn',
  little: 'warn',
  rest: 'warn',
  much: 'warn',
  otherCurrency: 'warn',
  late: 'warn',
  review: 'warn',
  takenBack: 'bad',
  partTakenBack: 'bad',
};
/** States in which the shopper has no reason to write to us. */
const CALM = new Set<State>(['paid', 'waiting', 'unpaid']);

/** `stopped`: new payments in the order's currency are stopped. */
type OrderProps = Site & { order: ShownOrder; view: View; stopped: boolean };

/**
 * Anybody who knows the address of an order may see its goods and its state, and no personal data.
 */
export function OrderPage({ order, view, stopped, ...site }: OrderProps): VNode {
  const { words } = site;
  const { states, shop } = words;
  const told = tell(order, words, view);
  const { stamp, heading, truth, advice } = states[told.state];
  // Keep each amount on one line.
  const say = (text: string): string => write(text, told.values).replace(/(?<=[A-Z]{3}) (?=\d)/g, '\u00a0');
  const isLive = ['pending', 'failed', 'review'].includes(order.status);
  const button =
    order.payBy === null || order.payBy > view.now ? words.pay[told.state as keyof Words['pay']] : undefined;
  // A payment page that is open can still be paid.
  const isStopped = stopped && !order.payments.some((one) => one.status === 'open' && one.checkoutUrl !== null);
  return (
    <Frame {...site} title={stamp} order={order} isLive={isLive}>
      <section id="state" class={TONES[told.state]} aria-live="polite">
        <p class="badge">{stamp}</p>
        <h1 tabIndex={-1}>{heading}</h1>
        <p>
          {say(truth)} {told.state === 'paid' && shop.afterPaying}
        </p>
        <p>
          <b>{say(advice)}</b>
        </p>
        {button !== undefined && isStopped && <p class="notice">{words.order.stopped}</p>}
        {button !== undefined && !isStopped && (
          <PayForm id={order.id} button={say(button)} isQuiet={told.state === 'waiting'} />
        )}
        {!CALM.has(told.state) && <Help words={words} id={order.id} />}
        {isLive && <small>{words.order.live}</small>}
      </section>
      <Receipt order={order} told={told} words={words} view={view} />
    </Frame>
  );
}

/** The plain form with which a shopper pays an order. */
function PayForm({ id, button, isQuiet = false }: { id: string; button: string; isQuiet?: boolean }): VNode {
  return (
    <form method="post" action="/checkout">
      <input type="hidden" name="orderId" value={id} />
      <button class={isQuiet ? 'quiet' : undefined}>{button}</button>
    </form>
  );
}

function Help({ words: { shop, order }, id }: { words: Words; id?: string | undefined }): VNode {
  const subject = id === undefined ? '' : `?subject=${encodeURIComponent(write(order.subject, { id }))}`;
  return (
    <p>
      {order.help} <a href={`mailto:${shop.help}${subject}`}>{shop.help}</a>
    </p>
  );
}

type ReceiptProps = Pick<Site, 'words'> & { order: ShownOrder; told: Told; view: View };

function Receipt({ order, told, words, view }: ReceiptProps): VNode {
  const text = words.order;
  const { id, paidAt, payBy } = order;
  const moment = (name: string, at: Date): [string, VNode] => {
    return [name, <time dateTime={at.toISOString()}>{momentText(at, words.language, view)}</time>];
  };
  const facts: [name: string, value: VNode][] = [[text.number, <code>{id}</code>]];
  if (paidAt !== null) facts.push(moment(text.paidOn, paidAt));
  else if (payBy !== null) facts.push(moment(text.payBy, payBy));
  if (told.reference !== null) facts.push([text.reference, <code>{told.reference}</code>]);
  return (
    <section id="receipt">
      <h2>{paidAt === null ? text.unpaid : text.paid}</h2>
      <table>
        {told.rows.map(({ name, isSum, ...money }, index) => (
          <tr key={index}>
            <th scope="row">{isSum ? <b>{name}</b> : name}</th>
            <td>{amountText(money)}</td>
          </tr>
        ))}
      </table>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The page that a shopper sees instead of a problem document. */
export function ProblemPage({ problem, ...site }: Site & { problem: Problem }): VNode {
  const { problems, faults, mend } = site.words;
  const { type, options } = problem;
  const [heading = '', advice = ''] = (problems as Partial<Record<string, string[]>>)[type] ?? problems.other;
  const fields = new Set(options.errors?.map(({ path }) => path.split('.')[0]));
  const told = Object.entries(faults).filter(([field]) => fields.has(field));
  const id = options.extra?.orderId;
  return (
    <Frame {...site} title={heading}>
      <section class="warn">
        <h1>{heading}</h1>
        {told.map(([field, fault]) => (
          <p key={field}>{fault}</p>
        ))}
        <p>
          <b>{advice}</b>
        </p>
        {id !== undefined && (
          <>
            <PayForm id={id} button={mend.again} />
            <p>
              <a href={`/orders/${id}/page`}>{mend.look}</a>
            </p>
          </>
        )}
        <Help words={site.words} id={id} />
      </section>
    </Frame>
  );
}
