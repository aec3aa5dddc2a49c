import type { ComponentChildren as Kids, VNode } from 'preact';
import { fieldsOf } from '../commands/command-line.ts';
import { ACTIONS } from '../commands/commands.ts';
import { findOrder } from '../commands/named.ts';
import { action, TEXT, type Action } from '../commands/registry.ts';
import { changeOrder } from '../payments/change-order.ts';
import { record } from '../payments/change.ts';
import { askNow } from '../payments/due.ts';
import { reconcile } from '../reconciliation/run.ts';
import { formToken, type Here } from './frame.tsx';
import { card, detail, fill, line } from './parts.tsx';
import { may } from './session.ts';
import words from './words.json' with { type: 'json' };

/** What only the console does. */
const OWN: Action[] = [
  action('clerk', 'ask ORDER', { order: TEXT }, async (parts, { order }) => {
    const { id: orderId } = await findOrder(parts, order);
    const payments = await parts.prisma.payment.findMany({ where: { orderId, status: { not: 'refused' } } });
    const heard = await Promise.all(payments.map(({ reference }) => askNow(parts, reference, 'person')));
    return { sentence: heard.every(Boolean) ? words.asked : words.unasked };
  }),
  action('clerk', 'note ORDER', { order: TEXT, note: TEXT }, async (parts, { order, note }) => {
    const { id } = await findOrder(parts, order);
    await changeOrder(parts, id, parts.by, (change) => {
      record(change, 'note', null, { note });
    });
    return { sentence: '' };
  }),
  action('clerk', 'compare', {}, (parts) => {
    reconcile(parts, { since: null, until: null }).catch((error: unknown) => {
      parts.logger.warn({ err: error }, 'a comparison that a person began has failed');
    });
    return Promise.resolve({ sentence: words.comparing });
  }),
];

const DONE: Record<string, string> = words.done;

/** What a form of the console may do; all else is for the command line. */
export const findForm = (name: string | null): Action | undefined =>
  [...ACTIONS, ...OWN].find((one) => one.name === name && Object.hasOwn(DONE, one.name));

/** What is said once it is done. */
export const doneText = ({ name }: Action, sentence: unknown): string =>
  fill(DONE[name] ?? '', { sentence: String(sentence) });

/**
 * What a form sent, as its action takes it, or what is wrong by field. `as` may name a flag:
 * `refund elsewhere`.
 */
export function readForm(act: Action, sent: URLSearchParams) {
  const [as = '', flag = ''] = (sent.get('as') ?? '').split(' ');
  const given: Record<string, unknown> = {};
  for (const { name, isFlag } of fieldsOf(act, act.input)) {
    const typed = (sent.get(name) ?? '').trim().slice(0, 500);
    const chosen = name === flag ? 'on' : typed;
    const text = name === 'as' ? as : chosen;
    if (text !== '') given[name] = isFlag || text;
  }
  // The number of a refund says why.
  if (as === 'refund') given.note ??= 'refunded';
  const parsed = act.input.safeParse(given);
  if (parsed.success) return { input: parsed.data, faults: {} };
  const names = parsed.error.issues.map(({ path }) => String(path[0]));
  const faults = names.map((name) => [name, words.faults[name in given ? 'wrong' : 'missing']]);
  return { input: null, faults: Object.fromEntries(faults) as Record<string, string> };
}

type Labels = Record<string, string>;
const LABELS: Labels = words.labels;

/** `hidden`: fields that nobody types; `without`: those that are left out, or drawn by `kids`. */
type ActOptions = { hidden?: Record<string, string>; labels?: Labels; without?: readonly string[] };

/**
 * A form made of an action's input. Viewers see none, and a clerk sees in grey what takes an
 * operator.
 */
export function act(here: Here, name: string, button: string, options: ActOptions = {}, ...kids: Kids[]): VNode | null {
  const { hidden = {}, labels = {}, without = [] } = options;
  const found = findForm(name);
  if (found === undefined || here.who.role === 'viewer') return null;
  const typed = typedFor(here, name, hidden);
  const fields = fieldsOf(found, found.input).filter((one) => !(one.name in hidden) && !without.includes(one.name));
  const isAllowed = may(here.who, found.role);
  return (
    <form method="post" action={here.address}>
      <fieldset class="act" disabled={!isAllowed}>
        {formToken(here.who)}
        {Object.entries({ ...hidden, do: name }).map(([key, value]) => (
          <input type="hidden" name={key} value={value} />
        ))}
        {kids}
        {fields.map((one) => field(one, { ...LABELS, ...labels }, typed, name !== 'cases decide'))}
        <button>{button}</button>
        {!isAllowed && <small>{`needs an operator (${operatorsOf(here)})`}</small>}
      </fieldset>
    </form>
  );
}

/** What was typed into this very form. A changed case is still the same one. */
function typedFor({ typed }: Here, name: string, hidden: Record<string, string>) {
  const isThis = ([key, value]: [string, string]) => key === 'seen' || typed?.values.get(key) === value;
  return typed?.values.get('do') === name && Object.entries(hidden).every(isThis) ? typed : null;
}

const operatorsOf = ({ parts: { config } }: Here): string =>
  config.OPERATORS.flatMap(({ name, role }) => (role === 'operator' ? name : [])).join(', ') || 'who set up the shop';

type Field = ReturnType<typeof fieldsOf>[number];

/** @param isSimple whether what is needed does not depend on what is chosen */
function field({ name, isFlag, isNeeded }: Field, labels: Labels, typed: Here['typed'], isSimple: boolean): VNode {
  const label = labels[name] ?? name;
  const value = typed?.values.get(name) ?? '';
  const fault = typed?.faults[name];
  const box = <input type="checkbox" name={name} value="on" checked={value === 'on'} />;
  if (isFlag) return <label class="choice">{[box, label]}</label>;
  const how = { maxLength: 500, autocomplete: 'off', inputMode: name === 'amount' ? ('decimal' as const) : undefined };
  return (
    <label class={name === 'note' ? 'wide' : ''}>
      {isNeeded || name === 'number' ? label : `${label} (if you like)`}
      <input name={name} value={value} required={isNeeded && isSimple} aria-invalid={fault !== undefined} {...how} />
      {fault !== undefined && <span class="bad fault">{fault}</span>}
    </label>
  );
}

/** What will be, before something is done for good; and what is said afterwards. */
export type Sure = Record<'title' | 'button' | 'done' | 'reads' | 'customer', string> & { facts: [string, string][] };

/** *Do I really mean this?* What was typed travels along, and comes back. */
export const surePage = ({ facts, reads, customer, button }: Sure, { address }: Here, sent: URLSearchParams): VNode => (
  <form method="post" action={address}>
    {detail(facts)}
    {reads !== '' && customer !== '' && card(`${customer} will read:`, line(reads))}
    {line(<b>This cannot be undone.</b>)}
    {[...sent].map(([name, value]) => name !== 'sure' && <input type="hidden" name={name} value={value} />)}
    <div class="act">
      <button name="sure" value="yes">
        {button}
      </button>
      <button name="sure" value="no" class="plain">
        Back
      </button>
    </div>
  </form>
);
