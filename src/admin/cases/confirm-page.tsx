import type { ComponentChildren, VNode } from 'preact';
import type { ActionForm } from '../actions/action-form.ts';
import { AdminPage, FormToken, type Frame } from '../layout/frame.tsx';
import { Table } from '../layout/parts.tsx';

type Props = {
  frame: Frame;
  address: '/admin/findings' | '/admin/suspense';
  form: ActionForm;
  count: number;
  head: readonly (string | { number: string })[];
  /** The decision, where there is a choice. */
  ending?: string;
  /** The rows that would be resolved. */
  children: ComponentChildren;
};

/**
 * Shows the chosen rows again for confirmation: resolving cannot be undone, and it is easy
 * to tick the wrong line.
 */
export function ConfirmPage({ frame, address, form, count, head, ending, children }: Props): VNode {
  const title = count === 1 ? 'Resolve this one?' : `Resolve these ${count}?`;
  return (
    <AdminPage frame={frame} title={title} here="/admin/cases">
      <p>Resolving is for good: this cannot be undone. Notes can be added later.</p>
      <Table label="To be resolved" head={head}>
        {children}
      </Table>
      <section aria-label="Who and why">
        <dl class="facts">
          {ending !== undefined && (
            <>
              <dt>It ends by</dt>
              <dd>{ending}</dd>
            </>
          )}
          <dt>By</dt>
          <dd>{form.by}</dd>
          <dt>Why</dt>
          <dd>{form.note}</dd>
        </dl>
      </section>
      <form method="post" action={address} class="action">
        <FormToken visitor={frame.visitor} />
        {form.sent.map(([name, value], at) => (
          <input key={at} type="hidden" name={name} value={value} />
        ))}
        <input type="hidden" name="sure" value="yes" />
        <p class="field">
          <button>Resolve for good</button>
        </p>
      </form>
      <p>
        <a href={address}>Back to the list</a>
      </p>
    </AdminPage>
  );
}
