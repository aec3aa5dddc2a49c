import type { VNode } from 'preact';
import { useLocale, Amount, WrittenMoment } from '../platform/html.tsx';
import type { OrderId } from '../platform/ids.ts';
import type { Order, OrderLine } from '../orders/order.ts';
import { shopText, type Branding, Frame } from './frame.tsx';
import { useReader } from './language.tsx';
import type { HeldMoney, ReviewDecision } from './money-text.ts';
import { statusTextOf, type OrderStatusText } from './order-status-text.ts';

/** How often a browser without script reloads an order that may change. */
const REFRESH_SEC = 5;

type OrderPageProps = {
  branding: Branding;
  order: Order;
  /** Its money that did not simply pay it: what waits for a person, and what persons decided. */
  held: readonly HeldMoney[];
  decisions: readonly ReviewDecision[];
  /** Money of the paid order went back, and no refund explains it. */
  isGoneBack: boolean;
  /** The shop's own sentence about the order; null: none. */
  note: string | null;
};

/**
 * Shows the shopper the state of the order, and nothing that is not known. The address alone gives
 * access, so the page shows what was ordered but no name and no e-mail address.
 */
export function OrderPage(props: OrderPageProps): VNode {
  const { branding, order, held, decisions, isGoneBack, note } = props;
  const { language, words } = useReader();
  const text = statusTextOf(order, decisions, { words, locale: useLocale(), held, isGoneBack });
  const next = branding.isDemo ? words.demo.next : shopText(branding.afterPaying, language);
  const isDelivered = order.status === 'paid' && order.refunded < order.came && !isGoneBack;
  return (
    <Frame
      title={text.stamp}
      branding={branding}
      script="order-watch.js"
      mode={order.mode}
      {...(text.changes && { refreshSec: REFRESH_SEC })}
    >
      <article
        class={`order ${order.status}`}
        data-order={order.id}
        data-status={order.status}
        data-is-watched={text.changes ? '' : undefined}
      >
        <div class="standing">
          <p class="stamp">{text.stamp}</p>
          <h1>{text.heading}</h1>
          <p class="lead">{text.truth}</p>
          {isDelivered && next !== null && <p class="lead">{next}</p>}
          {note !== null && <p class="lead">{note}</p>}
          <p class="advice">{text.advice}</p>
          {text.changes && <Watch />}
          {text.pay && <PayAgain orderId={order.id} pay={text.pay} />}
          {text.needsHelp && <Help orderId={order.id} email={branding.helpEmail} />}
          {branding.homeUrl !== null && (
            <p>
              <a href={branding.homeUrl}>{words.back}</a>
            </p>
          )}
        </div>
        <Receipt order={order} />
      </article>
    </Frame>
  );
}

/** Filled by the script that watches the order; a browser without script reloads the page regularly. */
function Watch(): VNode {
  return (
    <>
      <p class="watch" data-part="watch" role="status" />
      <noscript>
        <p class="watch">{useReader().words.order.checks(REFRESH_SEC)}</p>
      </noscript>
    </>
  );
}

type PayAgainProps = { orderId: OrderId; pay: NonNullable<OrderStatusText['pay']> };

/** The plain form that `POST /checkout` accepts for an existing order. */
function PayAgain({ orderId, pay }: PayAgainProps): VNode {
  return (
    <form class="pay" method="post" action="/checkout">
      <h2>{pay.heading}</h2>
      <p>{pay.explanation}</p>
      <input type="hidden" name="orderId" value={orderId} />
      <button class={`button ${pay.look}`} type="submit">
        {pay.button}
      </button>
    </form>
  );
}

function Help({ orderId, email }: { orderId: OrderId; email: string }): VNode {
  const { help, write, name, subject } = useReader().words.order;
  return (
    <section class="help-box" aria-labelledby="help-heading">
      <h2 id="help-heading">{help}</h2>
      <p>
        {write} <a href={`mailto:${email}?subject=${subject}%20${orderId}`}>{email}</a> {name}
      </p>
    </section>
  );
}

/**
 * What was ordered and what it costs. The script reads the data attributes to remove paid
 * products from the basket.
 */
function Receipt({ order }: { order: Order }): VNode {
  const words = useReader().words.order;
  return (
    <section class="receipt" aria-labelledby="receipt-heading">
      <h2 id="receipt-heading">{order.status === 'paid' ? words.receipt : words.unpaid}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.item}</th>
            <th scope="col">{words.amount}</th>
          </tr>
        </thead>
        <tbody>
          {order.lines.map((line, at) => (
            <Line key={at} line={line} currency={order.total.currency} />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{words.total}</th>
            <td>
              <Amount {...order.total} />
            </td>
          </tr>
        </tfoot>
      </table>
      <dl class="marks">
        <div>
          <dt>{words.number}</dt>
          <dd class="id">{order.id}</dd>
        </div>
        {order.paidAt !== null && (
          <div>
            <dt>{words.paidAt}</dt>
            <dd>
              <WrittenMoment at={order.paidAt} />
            </dd>
          </div>
        )}
        {order.payBy !== null && order.status !== 'paid' && order.status !== 'cancelled' && (
          <div>
            <dt>{words.payBy}</dt>
            <dd>
              <WrittenMoment at={order.payBy} />
            </dd>
          </div>
        )}
        {order.reference !== null && (
          <div>
            <dt>{words.reference}</dt>
            <dd class="id">{order.reference}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

function Line({ line, currency }: { line: OrderLine; currency: string }): VNode {
  const { sku, description, unitAmount, quantity } = line;
  return (
    <tr data-sku={sku ?? undefined} data-quantity={quantity}>
      <th scope="row">
        {description}
        {quantity > 1 && (
          <span class="each">
            {quantity} ×{' '}
            <span>
              <Amount amount={unitAmount} currency={currency} />
            </span>
          </span>
        )}
      </th>
      <td>
        <Amount amount={unitAmount * BigInt(quantity)} currency={currency} />
      </td>
    </tr>
  );
}
