import type { ComponentChildren, VNode } from 'preact';
import { caseTitle } from '../../cases/case-text.ts';
import { isDecision } from '../../cases/decision.ts';
import { Amount } from '../../platform/html.tsx';
import { Moment } from '../layout/parts.tsx';
import type { CaseRecord } from './case-records.sql.ts';
import { DECISION_TEXTS } from './decisions.ts';

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
