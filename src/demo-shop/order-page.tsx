import type { VNode } from 'preact';
import type { OrderId } from '../platform/ids.ts';
import type { Order } from '../orders/order.ts';
import type { Branding } from './branding.ts';
import { Frame } from './frame.tsx';
import { statusTextOf, type ReviewDecision, type OrderStatusText } from './order-status-text.ts';
import { Receipt } from './receipt.tsx';
import { refundTextOf } from '../orders/refund-text.ts';
import { useLocale } from '../platform/html.tsx';

/** How often a browser without script reloads an order that may change. */
const REFRESH_SEC = 5;

type OrderPageProps = {
  branding: Branding;
  order: Order;
  /** What was decided about the money of an order under review; null: nothing yet, or not all of it. */
  decisions: readonly ReviewDecision[] | null;
  /** The shop's own sentence about the order; null: none. */
  note: string | null;
};

/**
 * Shows the shopper the state of the order, and nothing that is not known. The address alone gives
 * access, so the page shows what was ordered but no name and no e-mail address.
 */
export function OrderPage({ branding, order, decisions, note }: OrderPageProps): VNode {
  const text = statusTextOf(order, decisions);
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
          <p class="advice">{text.advice}</p>
          {order.status === 'paid' && <Refunded order={order} />}
          {note !== null && <p class="lead">{note}</p>}
          {text.changes && <Watch />}
          {text.pay && <PayAgain orderId={order.id} pay={text.pay} />}
          {text.needsHelp && <Help orderId={order.id} email={branding.helpEmail} />}
          {branding.homeUrl !== null && (
            <p>
              <a href={branding.homeUrl}>Back to the shop</a>
            </p>
          )}
        </div>
        <Receipt order={order} />
      </article>
    </Frame>
  );
}

/** Written in the reader's language, which only a part of the page knows. */
function Refunded({ order }: { order: Order }): VNode | null {
  const text = refundTextOf(order, useLocale());
  return text && <p class="lead">{text.sentence}</p>;
}

/** Filled by the script that watches the order; a browser without script reloads the page regularly. */
function Watch(): VNode {
  return (
    <>
      <p class="watch" data-part="watch" role="status" />
      <noscript>
        <p class="watch">This page checks every {REFRESH_SEC} seconds.</p>
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
  return (
    <section class="help-box" aria-labelledby="help-heading">
      <h2 id="help-heading">Whom to ask</h2>
      <p>
        Write to <a href={`mailto:${email}?subject=Order%20${orderId}`}>{email}</a> and name the order and the
        payment reference shown here.
      </p>
    </section>
  );
}
