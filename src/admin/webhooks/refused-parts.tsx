import type { VNode } from 'preact';
import type { Dialect } from '../../gateway/dialect/dialect.ts';
import type { Reference } from '../../platform/ids.ts';
import type { RefusedLately, RefusedMinute, RefusedSample } from '../../webhooks/refused-webhooks.sql.ts';
import { Moment, Table } from '../layout/parts.tsx';
import { REFUSALS } from './result.ts';
import type { FoundPayment } from './webhooks.sql.ts';

export type Signature = Dialect['webhook']['signature'];

/** What was refused in the last hour, why, and what to check. */
export function RefusedLatelySection(props: {
  refused: readonly RefusedLately[];
  signature: Signature;
}): VNode | null {
  const { refused, signature } = props;
  if (refused.length === 0) return null;
  return (
    <section class="raised" aria-label="Refused in the last hour">
      {refused.map(({ reason, times, lastAt, newest }) => (
        <div key={reason}>
          <p>
            <strong>{times.toLocaleString('en')} refused in the last hour</strong> ({REFUSALS[reason].why}) ·
            last at <Moment at={lastAt} /> from {addressOf(newest)}
          </p>
          <p class="none">{REFUSALS[reason].check}</p>
        </div>
      ))}
      <details>
        <summary>For the developer, to copy</summary>
        <pre class="copy" tabIndex={0}>
          {refused.map((each) => noteOf(each, signature)).join('\n\n')}
        </pre>
      </details>
    </section>
  );
}

function addressOf(sample: RefusedSample | null): string {
  return sample === null || sample.address === '' ? 'an unknown address' : sample.address;
}

function noteOf({ reason, times, lastAt, newest }: RefusedLately, signature: Signature): string {
  const { why, status, check } = REFUSALS[reason];
  return [
    `POST /webhooks/payments answered ${status} ${times} times in an hour: ${why}.`,
    `Last ${lastAt.toISOString()} from ${addressOf(newest)}, ` +
      `reference ${newest?.reference ?? 'not readable'}.`,
    ...(reason === 'bad-signature' ? [`Expected (webhook.signature): ${JSON.stringify(signature)}`] : []),
    check,
  ].join('\n');
}

/** The newest few of each minute, and how many more there were. */
export function RefusedTable(props: {
  minutes: readonly RefusedMinute[];
  payments: readonly FoundPayment[];
}): VNode {
  const { minutes, payments } = props;
  const orderOf = (reference: Reference | null) =>
    payments.find((payment) => payment.reference === reference)?.orderId;
  return (
    <Table label="Refused webhooks" head={['When', 'About order', 'Result', 'From']}>
      {minutes.flatMap(({ key, reason, times, samples }) =>
        samples.map((sample, nth) => (
          <tr key={`${key} ${nth}`}>
            <td>
              <Moment at={new Date(sample.at)} />
            </td>
            <td>
              <AboutOrder orderId={orderOf(sample.reference) ?? null} reference={sample.reference} />
            </td>
            <td class="words">
              refused: {REFUSALS[reason].why}
              {nth === samples.length - 1 &&
                times > samples.length &&
                `, and ${(times - samples.length).toLocaleString('en')} more in this minute`}
            </td>
            <td>{addressOf(sample)}</td>
          </tr>
        )),
      )}
    </Table>
  );
}

/** The order in short, or the reference that is none of ours. */
export function AboutOrder({
  orderId,
  reference,
}: {
  orderId: string | null;
  reference: string | null;
}): VNode {
  if (orderId !== null) return <a href={`/admin/orders/${orderId}`}>{orderId.slice(0, 8)}</a>;
  if (reference === null) return <span class="none">no reference</span>;
  return <code>{reference}</code>;
}
