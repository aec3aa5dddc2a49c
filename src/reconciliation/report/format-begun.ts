import { formatTable } from '../../platform/terminal.ts';
import type { BegunReport } from './report.ts';

/** What a begin took, or would take, for people. */
export function begunPart(begun: BegunReport | undefined): string[] {
  if (begun === undefined) return [];
  const { isDry, transactions, formOfOurs, money, payments, shown } = begun;
  const sums = money.map(({ currency, amount }) => `${amount} ${currency}`).join(', ');
  const rows = shown.map(({ reference, orderId, status, isReleased }) => [
    reference,
    status,
    isReleased ? 'yes' : 'no',
    orderId,
  ]);
  const rest = payments > shown.length ? [`... and ${payments - shown.length} more`] : [];
  return [
    `${isDry ? 'A BEGIN WOULD TAKE' : 'BEGUN. It took'} as before: transactions that are not ours: ` +
      `${transactions}${sums && ` (${sums})`}; payments of ours that the list lacks: ${payments}.`,
    ...(isDry && shown.some(({ isReleased, status }) => isReleased || status === 'held')
      ? ['The paid ones it takes only if verify does not know them; it asks when it begins.']
      : []),
    ...(formOfOurs > 0
      ? [
          `LEFT: ${formOfOurs} transactions that are not ours have references of the form of ours. After a ` +
            'restore they are payments that the database has lost: npm run after-restore. If another ' +
            'program made them, begin with --even-of-our-form.',
        ]
      : []),
    ...(rows.length > 0
      ? [[formatTable(['reference', 'payment', 'released', 'order'], rows), ...rest].join('\n')]
      : []),
  ];
}
