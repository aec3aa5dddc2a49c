import { caseRow, moneyOf } from '../cases/case-text.ts';
import { listFindings } from '../cases/findings.ts';
import { openSuspense } from '../cases/suspense.sql.ts';
import { undeliveredEvents } from '../fulfilment/events.sql.ts';
import { undeliveredReleases } from '../fulfilment/releases.sql.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import { displayMoney, formatMajor } from '../platform/money.ts';
import { shortId } from '../platform/terminal.ts';
import type { Program } from '../program.ts';
import { customersOf, casePayments } from '../reporting/circumstances.sql.ts';
import type { Entry } from './work-list.ts';
import { DECISIONS } from '../cases/resolution.ts';
import type { AcceptOutcome } from '../payments/accept.ts';

/** The open findings, oldest first. */
export async function findingEntries({ database, gateway: { mode } }: Program): Promise<Entry[]> {
  const findings = await listFindings(database, mode);
  const payments = await casePayments(database, mode, findings.map(referenceOf));
  return findings.map((finding) => {
    const { expected = null, customer } = payments.get(finding.reference) ?? {};
    const money = { expected, actual: moneyOf(finding.actual, finding.currency), held: null };
    const id = String(finding.id);
    const about = aboutOf(customer, finding.owner);
    return {
      ...caseRow({ ...finding, ...money, id, about }),
      json: { ...finding, id },
      names: [id, finding.reference, finding.orderId],
    };
  });
}

/** The money that is held, oldest first. */
export async function suspenseEntries({ database, gateway: { mode } }: Program): Promise<Entry[]> {
  const items = await openSuspense(database, mode);
  const payments = await casePayments(database, mode, items.map(referenceOf));
  return items.map(({ id: number, amount, currency, ...item }) => {
    const { expected = null, customer } = payments.get(item.reference) ?? {};
    const held = { amount, currency };
    const id = String(number);
    const about = aboutOf(customer, item.owner);
    return {
      ...caseRow({ ...item, expected, actual: null, held, id, age: `${item.ageDays} d`, about }),
      json: { id, amount: formatMajor(held), currency, ...item },
      names: [id, item.reference, item.orderId],
    };
  });
}

type Waiting = {
  id: string;
  orderId: OrderId | null;
  delivery: string;
  attempts: number;
  lastError: string | null;
};

/** Releases and events that are not delivered yet. */
export async function deliveryEntries({ database, gateway: { mode } }: Program): Promise<Entry[]> {
  const releases = await undeliveredReleases(database, mode);
  const events = await undeliveredEvents(database, mode);
  const customers = await customersOf(
    database,
    [...releases, ...events].flatMap(({ orderId }) => orderId ?? []),
  );
  const entryOf = (one: Waiting, what: string, at: Date, json: object) => ({
    cells: [
      shortId(one.id),
      what,
      one.delivery,
      String(one.attempts),
      at.toISOString().slice(0, 16).replace('T', ' '),
      one.orderId === null ? '-' : shortId(one.orderId),
    ],
    below: [one.orderId === null ? null : customers.get(one.orderId), one.lastError].flatMap(
      (line) => line ?? [],
    ),
    json,
    names: [one.id, one.orderId] as const,
  });
  return [
    // Scripts know the time of the next delivery as nextCheckAt.
    ...releases.map(({ amount, currency, nextDeliveryAt, ...release }) =>
      entryOf(release, displayMoney({ amount, currency }), release.releasedAt, {
        amount: formatMajor({ amount, currency }),
        currency,
        ...release,
        nextCheckAt: nextDeliveryAt,
      }),
    ),
    ...events.map(({ nextDeliveryAt, ...event }) =>
      entryOf(event, event.type, event.happenedAt, { ...event, nextCheckAt: nextDeliveryAt }),
    ),
  ];
}

const referenceOf = ({ reference }: { reference: Reference }): Reference => reference;
const aboutOf = (customer: string | undefined, owner: string | null): string[] => [
  ...(customer === undefined ? [] : [customer]),
  ...(owner === null ? ['unassigned'] : [`assigned to ${owner}`]),
];

/** What the commands say of cases. */
export const SURPLUS_NOTED =
  'Noted. When the service shows exactly what was asked for, the order is paid by itself and the item closes.';

export const NOT_RESOLVED =
  'There is no such open item, or its surplus was refunded before: then accept or refund the rest; a ' +
  'surplus alone is refunded under the number that was noted.';

/** @param item the money in suspense that the finding is about */
export const decideFirst = (item: bigint): string =>
  'Its money is in suspense, and the decision about that closes the finding too. ' +
  `Type: npm run suspense -- resolve ${item} --decision ${Object.keys(DECISIONS).join('|')} --note "why" --by "your name"`;

export const ACCEPT_TOLD: Record<AcceptOutcome, string> = {
  accepted: 'Accepted: the order is paid.',
  gone: 'There is no such open item.',
  'not-this': 'Only too little or too much that came for an unpaid order, and nothing else, can be accepted.',
  changed: 'Nothing was accepted: the service shows something else now. Look again.',
  unanswered: 'Nothing was accepted: the service could not be asked. Try again.',
};
