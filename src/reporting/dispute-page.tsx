import type { ComponentChildren, VNode } from 'preact';
import type { Dispute, Exhibit } from './dispute.sql.ts';
import { foreignText } from '../platform/terminal.ts';
import { htmlOf } from '../platform/html.tsx';

/** Makes a text or bytes from outside fit to be shown. */
export type Shown = (text: string | Buffer) => string;

// No character that HTML escapes: the renderer would escape it in here, too.
const STYLE = `
  body { font: 14px/1.5 system-ui, sans-serif; color: #111; }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  h1, h2 { line-height: 1.2; } h2 { margin-top: 2rem; border-bottom: 1px solid #999; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; overflow-wrap: anywhere; }
  pre { white-space: pre-wrap; border: 1px solid #ccc; padding: .5rem; font-size: 12px; }
  pre, code { overflow-wrap: anywhere; }
  section { break-inside: auto; } h2, h3, tr { break-inside: avoid; break-after: auto; }
  @media print { body { margin: 0; max-width: none; } }`;

/** One order for an acquirer: one file, without scripts and without anything that has to be loaded. */
function DisputePage({ dispute, shown }: { dispute: Dispute; shown: Shown }): VNode {
  const { order, answers, webhooks, release, refunds } = dispute;
  const title = `Order ${order.orderId}`;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>{title}</title>
        <style>{STYLE}</style>
      </head>
      <body>
        <h1>{title}</h1>
        <p>Times in UTC. Each answer and webhook stands here with the SHA-256 of the bytes that came.</p>
        <Goods order={order} shown={shown} />
        <Section title="Payments">
          <Rows
            rows={order.payments.map(({ reference, status, reason }) => [reference, status, reason ?? ''])}
          />
        </Section>
        <Exhibits title="What the service answered" exhibits={answers} shown={shown} />
        <Exhibits title="Webhooks of the service" exhibits={webhooks} shown={shown} />
        <Section title="What was delivered">
          <Rows rows={release === null ? [['Nothing was released.']] : releaseRows(release, shown)} />
        </Section>
        {refunds.length > 0 && (
          <Section title="What was given back">
            {refunds.map((row, index) => (
              <Rows
                key={index}
                rows={Object.entries(row).map(([name, value]) => [name, shown(String(value))])}
              />
            ))}
          </Section>
        )}
        <Journal dispute={dispute} shown={shown} />
      </body>
    </html>
  );
}

function Goods({ order, shown }: { order: Dispute['order']; shown: Shown }): VNode {
  return (
    <>
      <Section title="What was bought">
        <Rows
          rows={order.lines.map(({ quantity, description, unitAmount }) => [
            `${quantity} ×`,
            shown(description),
            unitAmount,
          ])}
        />
        <Rows
          rows={[
            ['Total', order.amount],
            ['Status', order.status],
            ['Mode', order.mode],
            ['Number of the shop', shown(order.externalId ?? 'none')],
            ['Placed', order.placedAt.toISOString()],
            ['Paid', order.paidAt?.toISOString() ?? 'not'],
          ]}
        />
      </Section>
      <Section title="By whom">
        <Rows
          rows={[
            ['E-mail', shown(order.email)],
            ...Object.entries(order.details).map(([name, value]) => [shown(name), shown(String(value))]),
          ]}
        />
      </Section>
    </>
  );
}

function Journal({ dispute: { order, journal }, shown }: { dispute: Dispute; shown: Shown }): VNode {
  return (
    <Section title="Journal">
      <p>{verdictOf(order.contradictions)}</p>
      <Rows rows={order.contradictions.map((what) => [shown(what)])} />
      <Rows
        rows={journal.map(({ seq, at, event, reference, cause, detail, hash }) => [
          `#${seq} ${at.toISOString()}`,
          `${event} by ${shown(cause)}, ${reference ?? 'no payment'} ${shown(JSON.stringify(detail))}`,
          <code key="hash">{hash}</code>,
        ])}
      />
    </Section>
  );
}

/** What the chain of hashes proves, in a sentence. */
function verdictOf(contradictions: readonly string[]): string {
  return contradictions.length === 0
    ? 'The journal is whole: its numbers are dense, every hash fits, and no row contradicts it.'
    : 'This order was changed by other means:';
}

function releaseRows(release: NonNullable<Dispute['release']>, shown: Shown): string[][] {
  const { id, delivery, attempts, releasedAt, deliveredAt, lastError } = release;
  return [
    ['Release', id],
    ['Released', releasedAt?.toISOString() ?? 'not'],
    ['Delivery', `${delivery}, ${attempts ?? 0} attempt(s); each with its time is in the journal`],
    ['Delivered', deliveredAt?.toISOString() ?? 'not'],
    ['Last error', shown(lastError ?? 'none')],
  ];
}

type ExhibitsProps = { title: string; exhibits: readonly Exhibit[]; shown: Shown };

function Exhibits({ title, exhibits, shown }: ExhibitsProps): VNode {
  return (
    <Section title={title}>
      {exhibits.length === 0 && <p>None.</p>}
      {exhibits.map(({ at, reference, asked, says, sha256, body }, index) => (
        <div key={index}>
          <h3>{`${at.toISOString()}, ${reference}, ${shown(asked)}`}</h3>
          <p>
            {shown(says)}, SHA-256 <code>{sha256}</code>
          </p>
          {body === null ? <p>Only its digest is kept.</p> : <pre>{shown(body)}</pre>}
        </div>
      ))}
    </Section>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Rows({ rows }: { rows: readonly (readonly ComponentChildren[])[] }): VNode {
  return (
    <table>
      {rows.map((cells, index) => (
        <tr key={index}>
          {cells.map((cell, at) => (
            <td key={at}>{cell}</td>
          ))}
        </tr>
      ))}
    </table>
  );
}

/** `withCustomer`: whether addresses stand there whole, and what the shopper entered beside them. */
type DisputeForm = { as: 'html' | 'json'; withCustomer: boolean };

/** The pack as one file. Without the customer every e-mail address in it, bodies included, is masked. */
export function disputePack(dispute: Dispute, { as, withCustomer }: DisputeForm): string {
  const shown: Shown = (text) => foreignText(Buffer.isBuffer(text) ? text : Buffer.from(text), withCustomer);
  const details = withCustomer ? dispute.order.details : {};
  const told = { ...dispute, order: { ...dispute.order, details } };
  if (as === 'html') return htmlOf(DisputePage({ dispute: told, shown }));
  const plain = (value: unknown): unknown => {
    if (typeof value === 'string' || Buffer.isBuffer(value)) return shown(value);
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  };
  return JSON.stringify(plain(told), null, 2);
}
