import type { VNode } from 'preact';
import { nameOfStopped } from '../../payments/checkout-stops.ts';
import { EVERY_CURRENCY, type StoppedCurrency } from '../../payments/currency-stops.sql.ts';
import { FormToken, WhoAndWhy } from '../layout/frame.tsx';
import { Moment } from '../layout/parts.tsx';
import type { Visitor } from '../login/guard.ts';
import { Card } from './card.tsx';

type Props = { stops: readonly StoppedCurrency[]; visitor: Visitor };

/** What cannot be bought now, on top of the page, and how it goes on. */
export function Stops({ stops, visitor }: Props): VNode | null {
  if (stops.length === 0) return null;
  return (
    <section aria-labelledby="stops" class="raised">
      <h2 id="stops">New checkouts are stopped</h2>
      {stops.map(({ currency, stoppedAt, ...by }) => (
        <div key={currency + (by.reference ?? '')}>
          <p class="alarm">
            Nobody can begin to pay in {nameOfStopped(currency)} since <Moment at={stoppedAt} />:{' '}
            {by.reason === null ? (
              <>
                payment <a href={`/admin/orders?q=${by.reference}`}>{by.reference}</a> came in another unit.
                See first whether the unit of amounts is right.
              </>
            ) : (
              `${by.stoppedBy} stopped it, “${by.reason}”.`
            )}
          </p>
          {visitor.may('checkouts') && (
            <form method="post" action="/admin/checkouts" class="action">
              <FormToken visitor={visitor} />
              <input type="hidden" name="id" value={currency} />
              <WhoAndWhy visitor={visitor} id={`resume-${currency === EVERY_CURRENCY ? 'all' : currency}`} />
              <p class="field">
                <button name="operation" value={by.reason === null ? 'release' : 'resume'}>
                  Let it go on
                </button>
              </p>
            </form>
          )}
        </div>
      ))}
    </section>
  );
}

/** Stops new checkouts; shown to those who may. */
export function StopForm({ visitor }: Pick<Props, 'visitor'>): VNode | null {
  if (!visitor.may('checkouts')) return null;
  return (
    <Card id="stop" title="Stop new checkouts">
      <p class="none">Open payments go on. Shoppers are told to come back later, and keep their baskets.</p>
      <form method="post" action="/admin/checkouts" class="action">
        <FormToken visitor={visitor} />
        <p class="field">
          <label for="stop-id">Currency; * for all</label>
          <input id="stop-id" name="id" required pattern="[A-Za-z]{3}|\*" autocomplete="off" />
        </p>
        <WhoAndWhy visitor={visitor} id="stop" />
        <p class="field">
          <button name="operation" value="stop">
            Stop
          </button>
        </p>
      </form>
    </Card>
  );
}
