import type { VNode } from 'preact';
import type { Undelivered } from '../../fulfilment/releases.sql.ts';
import { Amount } from '../../platform/html.tsx';
import { Allowed, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { Moment, OrderLink, Table } from '../layout/parts.tsx';
import { Delivery } from './events-form.tsx';

const MAX_SHOWN = 200;

type Props = { frame: Frame; undelivered: readonly Undelivered[]; isWithheld?: boolean };

/** Paid orders that the delivery system does not have; those that are selected are sent. */
export function UndeliveredForm({ frame, undelivered, isWithheld = false }: Props): VNode {
  return (
    <form method="post" action="/admin/releases">
      <FormToken visitor={frame.visitor} />
      <Table
        label={isWithheld ? 'Withheld orders' : 'Orders waiting for delivery'}
        head={[
          'Select',
          'Paid',
          'Order',
          'Delivery',
          { number: 'Tries' },
          'Next try',
          { number: 'Amount' },
          'Last error',
        ]}
      >
        {undelivered.slice(0, MAX_SHOWN).map((release) => (
          <tr key={release.id}>
            <td>
              <input type="checkbox" name="id" value={release.id} aria-label={`Order ${release.orderId}`} />
            </td>
            <td>
              <Moment at={release.releasedAt} />
            </td>
            <td>
              <OrderLink id={release.orderId} />
            </td>
            <td>
              <Delivery word={release.delivery} />
            </td>
            <td class="number">{release.attempts}</td>
            <td>
              <Moment at={release.nextDeliveryAt} />
            </td>
            <td class="number">
              <Amount {...release} />
            </td>
            <td class="words">{release.lastError ?? ''}</td>
          </tr>
        ))}
      </Table>
      {undelivered.length > MAX_SHOWN && <p class="none">The oldest {MAX_SHOWN} are shown.</p>}
      <Allowed visitor={frame.visitor} action="releases">
        <div class="action">
          <WhoAndWhy visitor={frame.visitor} id={isWithheld ? 'send-withheld' : 'redeliver'} />
          <p class="field">
            {isWithheld ? (
              <button name="operation" value="withheld" class="quiet">
                Send selected all the same
              </button>
            ) : (
              <button>Send selected again</button>
            )}
          </p>
        </div>
      </Allowed>
    </form>
  );
}
