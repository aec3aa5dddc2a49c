import type { VNode } from 'preact';
import { EVERY_CURRENCY, type CheckoutStop } from '../../payments/checkout-stops.sql.ts';
import { Amount } from '../../platform/html.tsx';
import { Action } from '../layout/frame.tsx';
import { Field, Moment } from '../layout/parts.tsx';
import type { Visitor } from '../login/guard.ts';

type Props = { stops: readonly CheckoutStop[]; visitor: Visitor };

/** The currencies that are stopped, and why; with a form that allows it again. */
export function CheckoutStops({ stops, visitor }: Props): VNode {
  return (
    <>
      {stops.map((stop) => {
        const { currency, stoppedAt, reason } = stop;
        const isAll = currency === EVERY_CURRENCY;
        return (
          <section key={currency + (reason ?? '')} class="stopped" aria-label="Stopped">
            <p class="headline">
              No new checkout begins in {isAll ? 'any currency' : currency} since <Moment at={stoppedAt} />.
              Open payments go on.
            </p>
            <Reason stop={stop} />
            {visitor.may('checkouts') && (
              <details>
                <summary>{isAll ? 'Allow payments again…' : `Allow ${currency} again…`}</summary>
                <Action
                  visitor={visitor}
                  address="/admin/checkouts"
                  about={currency}
                  id={`resume-${isAll ? 'all' : currency}`}
                  operation={reason === null ? 'release' : 'resume'}
                  button="Allow it from now on"
                />
              </details>
            )}
          </section>
        );
      })}
    </>
  );
}

function Reason({ stop }: { stop: CheckoutStop }): VNode {
  if (stop.reason !== null)
    return (
      <p>
        {stop.stoppedBy} stopped it: “{stop.reason}”.
      </p>
    );
  const { currency, reference, asked, came } = stop;
  return (
    <p>
      {came === null ? (
        'A payment came in another unit. '
      ) : (
        <>
          A payment of <Amount amount={asked} currency={currency} /> came in as{' '}
          <Amount amount={came} currency={currency} />, {timesItsPrice(asked, came)}.{' '}
        </>
      )}
      Probably a setting (unit of amounts): call your developer before you touch money.{' '}
      <a href={`/admin/cases?${new URLSearchParams({ q: reference }).toString()}`}>Look at it</a>
    </p>
  );
}

/** A unit error is a power of ten. */
function timesItsPrice(asked: bigint, came: bigint): string {
  return came >= asked ? `${came / asked} times its price` : `1/${asked / (came || 1n)} of its price`;
}

/** Stops new checkouts; shown to those who may. */
export function StopForm({ visitor }: Pick<Props, 'visitor'>): VNode | null {
  if (!visitor.may('checkouts')) return null;
  return (
    <details>
      <summary>Stop new checkouts…</summary>
      <p class="none">
        Payments that have begun go on. Shoppers read that they should come back later, and keep their
        baskets.
      </p>
      <Action visitor={visitor} address="/admin/checkouts" id="stop" operation="stop" button="Stop">
        <Field
          id="stop-id"
          label="Currency, such as NGN (* for all)"
          name="id"
          required
          pattern="[A-Za-z]{3}|\*"
          autocomplete="off"
        />
      </Action>
    </details>
  );
}
