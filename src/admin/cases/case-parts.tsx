import type { VNode } from 'preact';
import type { OrderId } from '../../platform/ids.ts';
import { Amount } from '../../platform/html.tsx';
import { maskEmail } from '../../reporting/activity.ts';
import { Moment } from '../layout/parts.tsx';
import type { CaseRow } from './cases.sql.ts';
import { heldMoney } from './decisions.ts';

export { Moment } from '../layout/parts.tsx';

/** Who bought, as far as pages show it. */
export function customerOf({ email }: Pick<CaseRow, 'email'>): string | null {
  return email === null || email === 'erased' ? email : maskEmail(email);
}

export function Customer({ row }: { row: CaseRow }): VNode {
  return <>{customerOf(row) ?? <span class="none">unknown</span>}</>;
}

export function Held({ row }: { row: CaseRow }): VNode {
  const money = heldMoney(row);
  return money === null ? <span class="none">–</span> : <Amount {...money} />;
}

export function Owner({ name }: { name: string | null }): VNode {
  return name === null ? <span class="none">unassigned</span> : <>{name}</>;
}

/** Its first letters are enough to tell orders of a list apart. */
export function ToOrder({ id }: { id: OrderId | null }): VNode {
  if (id === null) return <span class="none">not ours</span>;
  return (
    <a href={`/admin/orders/${id}`} title={id}>
      {id.slice(0, 8)}
    </a>
  );
}

/** The operators' notes. */
export function Notes({ notes }: Pick<CaseRow, 'notes'>): VNode | null {
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map(({ at, by, note }, place) => (
        <li key={place}>
          <Moment at={new Date(at)} /> {by}: {note}
        </li>
      ))}
    </ul>
  );
}
