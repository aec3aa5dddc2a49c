import { displayMoney } from '../platform/money.ts';
import type { Action } from './activity.sql.ts';

/** What the action was, as a sentence that follows the person's name. Texts from outside are in it. */
export function sentenceOf(action: Action): string {
  const { event, detail } = action;
  const say = (name: string): string | null => (typeof detail[name] === 'string' ? detail[name] : null);
  const note = [say('note'), say('reason')].find((text) => text !== null && text !== '');
  const ending = [
    [say('decision')?.replaceAll('_', ' '), say('refund')].filter(Boolean).join(' '),
    note === undefined ? '' : `‘${note}’`,
  ].filter((text) => text !== '');
  const sentence = [verbOf(event, say), subjectOf(action), say('owner') === null ? '' : `to ${say('owner')}`];
  return [sentence.filter(Boolean).join(' '), ending.join(', ')].filter(Boolean).join(': ');
}

/** `chidi@example.com` as `c•••@example.com`. */
export function maskEmail(email: string): string {
  return email.replace(/^(.?)[^@]*@/u, '$1•••@');
}

const VERBS: Readonly<Record<string, string>> = {
  'person-shown': 'looked at the address of',
  'check-asked': 'asked the service about',
  'release-redelivery': 'delivered again',
  'event-redelivery': 'delivered again an event of',
  'addresses-disclosed': 'took whole addresses in the books',
  'payment-ambiguous': 'adopted a lost payment of',
  'finding-noted': 'wrote down about',
  'suspense-noted': 'wrote down about',
  'finding-assigned': 'assigned',
  'suspense-assigned': 'assigned',
  'finding-resolved': 'closed the finding',
  'suspense-resolved': 'resolved',
  'reconciliation-begun': 'let reconciliation begin',
};

function verbOf(event: string, say: (name: string) => string | null): string {
  const currency = say('currency') === '*' ? 'every currency' : say('currency');
  if (event === 'checkouts-stopped') return `stopped new checkouts in ${currency}`;
  if (event === 'checkouts-resumed' || event === 'currency-released')
    return `let checkouts in ${currency} go on`;
  // An event without words of its own: the journal's name of it, read backwards, is a verb and a thing.
  const [thing = '', ...done] = event.split('-');
  return VERBS[event] ?? `${done.join(' ')} ${thing} of`;
}

function subjectOf({ event, class: name, amount, currency, email, orderId, reference }: Action): string {
  if (/^(checkouts|currency|reconciliation|addresses)-/.test(event)) return '';
  const money = amount === null || currency === null ? '' : displayMoney({ amount, currency });
  const whose =
    email === null || email === 'erased'
      ? (orderId ?? `reference ${reference ?? 'unknown'}`)
      : maskEmail(email);
  const what = [name?.replaceAll('_', ' '), money].filter(Boolean).join(' ');
  return what === '' ? whose : `${what} of ${whose}`;
}
