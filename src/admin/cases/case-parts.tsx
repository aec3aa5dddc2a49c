import type { VNode, ComponentChildren } from 'preact';
import type { OrderId } from '../../platform/ids.ts';
import { Amount } from '../../platform/html.tsx';
import { maskEmail } from '../../reporting/activity.ts';
import { Moment } from '../layout/parts.tsx';
import type { CaseRow } from './cases.sql.ts';
import { heldMoney, DECISION_TEXTS } from './case-advice.ts';
import { caseTitle } from '../../cases/case-text.ts';
import { isDecision } from '../../cases/resolution.ts';
import type { CaseRecord } from './case-records.sql.ts';

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

type Line = { at: Date; text: ComponentChildren };

/** What became of a case, oldest first: what was held and found under its reference, and what people did. */
export function History({ records }: { records: readonly CaseRecord[] }): VNode {
  const lines = records.flatMap(linesOf).sort((a, b) => a.at.getTime() - b.at.getTime());
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <ol class="plain">
        {lines.map(({ at, text }, place) => (
          <li key={place}>
            <Moment at={at} /> {text}
          </li>
        ))}
      </ol>
    </section>
  );
}

function linesOf(record: CaseRecord): Line[] {
  const { kind, since, amount, currency, runId, owner, assignedAt, assignedBy, closedAt, notes } = record;
  const title = caseTitle(record.class);
  const lines: Line[] = [
    {
      at: since,
      text:
        kind === 'money' && amount !== null && currency !== null ? (
          <>
            {title}: <Amount amount={amount} currency={currency} /> put aside.
          </>
        ) : (
          <>
            {title}: found by a <a href={`/admin/runs/${runId ?? ''}`}>check against the service</a>.
          </>
        ),
    },
    ...notes.map(({ at, by, note }) => ({ at: new Date(at), text: `${by}: ${note}` })),
  ];
  if (assignedAt !== null) lines.push({ at: assignedAt, text: `${assignedBy} assigned it to ${owner}.` });
  if (closedAt !== null) lines.push({ at: closedAt, text: endOf(record) });
  return lines;
}

function endOf(record: CaseRecord): string {
  const { closedBy, decision, refundNumber, note, class: name } = record;
  if (closedBy === 'confirmation') return 'The service showed the exact amount, and the order was paid.';
  if (closedBy === 'reconciliation') return `${caseTitle(name)}: a later check did not find it any more.`;
  const what = decision !== null && isDecision(decision) ? DECISION_TEXTS[decision].name : caseTitle(name);
  const number = refundNumber === null ? '' : `, number ${refundNumber}`;
  return `${closedBy} closed it: ${what}${number}${note === null ? '.' : `, ‘${note}’`}`;
}
