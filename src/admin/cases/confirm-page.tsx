import type { VNode } from 'preact';
import { caseTitle } from '../../cases/case-text.ts';
import type { ShopperText } from '../pages.ts';
import type { ActionForm } from '../action-form.ts';
import { AdminPage, Confirm, Facts, type Frame } from '../layout/frame.tsx';
import { Button, Table } from '../layout/parts.tsx';
import { decisionIn } from './actions.ts';
import { Customer, Held, ToOrder } from './case-parts.tsx';
import type { CaseRow } from './cases.sql.ts';
import { DECISION_TEXTS } from './case-advice.ts';

/** A case that is about to be closed, and what its shopper will read then; null: nothing of a decision. */
export type Closing = { row: CaseRow; preview: ShopperText | null };

type Props = {
  frame: Frame;
  /** Where the form is sent: the page it came from. */
  address: string;
  form: ActionForm;
  closings: readonly Closing[];
};

/** Shows once more what cannot be undone, and what shoppers will read after it. */
export function ConfirmPage({ frame, address, form, closings }: Props): VNode {
  const count = closings.length;
  return (
    <AdminPage
      frame={frame}
      title={count === 1 ? 'Close this case?' : `Close these ${count} cases?`}
      here="/admin/cases"
    >
      <Table
        label="To be closed"
        head={['Kind', 'Customer', { number: 'Held' }, 'Order']}
        rows={closings.map(({ row }) => [
          caseTitle(row.class),
          <Customer row={row} />,
          <Held row={row} />,
          <ToOrder id={row.orderId} />,
        ])}
      />
      <Decision form={form} />
      <Previews closings={closings} />
      <p>This cannot be undone. You can still add a note later.</p>
      <Confirm
        visitor={frame.visitor}
        address={address}
        form={form}
        button={count === 1 ? 'Close the case' : `Close ${count} cases`}
        back={
          <Button name="back" value="yes" isQuiet>
            Back
          </Button>
        }
      />
    </AdminPage>
  );
}

function Decision({ form }: Pick<Props, 'form'>): VNode {
  const decided = form.operation === 'resolve' ? decisionIn(form) : null;
  const text = decided && DECISION_TEXTS[decided.decision];
  return (
    <section aria-label="Decision">
      <Facts
        facts={{
          Decision: text && `${text.name}. ${text.meaning}`,
          'Refund number': decided?.refundNote,
          By: form.by,
          Why: form.note,
        }}
      />
    </section>
  );
}

/** The same text is shown once, with how many shoppers read it. */
function Previews({ closings }: Pick<Props, 'closings'>): VNode {
  const readers = new Map<string, { text: ShopperText; count: number }>();
  for (const { preview } of closings) {
    if (preview === null) continue;
    const words = JSON.stringify(preview);
    readers.set(words, { text: preview, count: (readers.get(words)?.count ?? 0) + 1 });
  }
  return (
    <>
      {[...readers].map(([words, { text, count }], at) => (
        <section class="preview" key={words} aria-labelledby={`preview-${at}`}>
          <h2 id={`preview-${at}`}>
            {closings.length === 1
              ? 'The shopper will read'
              : `${count === 1 ? 'One shopper' : `${count} shoppers`} will read`}
          </h2>
          <p>
            <strong>{text.heading}</strong>
          </p>
          <p>{text.truth}</p>
          <p>{text.advice}</p>
        </section>
      ))}
    </>
  );
}
