import type { VNode } from 'preact';
import { caseText } from '../../cases/case-text.ts';
import type { ItemFacts } from '../../cases/findings.ts';
import { useLocale } from '../../platform/html.tsx';
import type { OrderId } from '../../platform/ids.ts';
import { maskEmail } from '../../reporting/activity.ts';
import { Moment, OrderLink, Table } from '../layout/parts.tsx';
import { moneyOf } from './verdict-text.ts';

/** More rows than a person reads; the list of what is to be done pages through all of them. */
export const MAX_ITEMS = 200;

type Props = {
  items: readonly ItemFacts[];
  customers: ReadonlyMap<OrderId, string>;
  /** When the check began: what was seen first after that is new. */
  since: Date;
};

/** The differences that were open after a check, each with its sentence and the way to its case. */
export function Items({ items, customers, since }: Props): VNode {
  const locale = useLocale();
  return (
    <section aria-labelledby="items">
      <h2 id="items">What was open after it</h2>
      <Table
        label="Differences"
        head={['Problem', 'Customer', 'What is wrong', 'First seen', 'Order', 'To do']}
      >
        {items.map((item) => {
          const { class: name, reference, orderId, firstSeenAt } = item;
          const { title, sentence } = caseText({ class: name, ...moneyOf(item), held: null }, locale);
          const email = orderId === null ? undefined : customers.get(orderId);
          return (
            <tr key={`${name}${reference}`}>
              <td>{title}</td>
              <td>{email === undefined ? '–' : maskEmail(email)}</td>
              <td class="words">{sentence}</td>
              <td>{new Date(firstSeenAt) >= since ? 'new' : <Moment at={new Date(firstSeenAt)} />}</td>
              <td>
                <OrderLink id={orderId} />
              </td>
              <td>
                <a href={`/admin/cases?${new URLSearchParams({ q: reference }).toString()}`}>Look at it</a>
              </td>
            </tr>
          );
        })}
      </Table>
      {items.length === MAX_ITEMS && (
        <p class="none">
          The oldest {MAX_ITEMS}. <a href="/admin/cases">All that is to be done</a>
        </p>
      )}
    </section>
  );
}
