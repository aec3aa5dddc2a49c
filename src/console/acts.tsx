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

/** Actions that only the console offers. */
const OWN: Action[] = [
  action('clerk', 'ask ORDER', { order: TEXT }, async (parts, { order }) => {
    const { id: orderId } = await findOrder(parts, order);
    await changeOrder(parts, orderId, parts.by, (change) => {
      record(change, 'verification asked', null);
    });
    const payments = await parts.prisma.payment.findMany({ where: { orderId, status: { not: 'refused' } } });
    // One after another: each verification also verifies the other part payments of the order.
    let isAnswered = true;
    for (const { reference } of payments) isAnswered = (await askNow(parts, reference, 'person')) && isAnswered;
    return { sentence: isAnswered ? words.asked : words.unasked };
  }),
  action('clerk', 'note ORDER', { order: TEXT, note: TEXT }, async (parts, { order, note }) => {
    const { id } = await findOrder(parts, order);
    await changeOrder(parts, id, parts.by, (change) => {
      record(change, 'note', null, { note });
    });
    return { sentence: '' };
  }),
  action('clerk', 'compare', {}, async (parts) => {
    await parts.prisma.journalEntry.create({ data: { what: 'comparison started', by: parts.by } });
    reconcile(parts, { since: null, until: null }).catch((error: unknown) => {
      parts.logger.warn({ err: error }, 'a comparison that a person began has failed');
    });
    return { sentence: words.comparing };
  }),
];

const DONE: Record<string, string> = words.done;

/** Finds an action that a console form may run. Other actions belong to the command line. */
export const findForm = (name: string | null): Action | undefined =>
  [...ACTIONS, ...OWN].find((one) => one.name === name && Object.hasOwn(DONE, one.name));

/** The confirmation that the next page shows. */
export const doneText = ({ name }: Action, sentence: unknown): string =>
  fill(DONE[name] ?? '', { sentence: String(sentence) });

/**
 * Parses a form for its action, or returns the faults by field. The field `as` may also set a flag:
 * `refund elsewhere`.
 */
export function readForm(act: Action, sent: URLSearchParams) {
  const [as = '', flag = ''] = (sent.get('as') ?? '').split(' ');
  const given: Record<string, unknown> = {};
  for (const { name, isFlag } of fieldsOf(act, act.input)) {
    const sentText = (sent.get(name) ?? '').trim().slice(0, 500);
    // One or two digits after a comma are decimals. Three may be thousands, and are an error.
    const typed = name === 'amount' ? sentText.replace(/^(\d+),(\d{1,2})$/, '$1.$2') : sentText;
    const chosen = name === flag ? 'on' : typed;
    const text = name === 'as' ? as : chosen;
    if (text !== '') given[name] = isFlag || text;
  }
  // A refund needs no typed note: its number explains it.
  if (as === 'refund') given.note ??= 'refunded';
  const parsed = act.input.safeParse(given);
  if (parsed.success) return { input: parsed.data, faults: {} };
  const names = parsed.error.issues.map(({ path }) => String(path[0]));
  const faults = names.map((name) => [name, words.faults[name in given ? 'wrong' : 'missing']]);
  return { input: null, faults: Object.fromEntries(faults) as Record<string, string> };
}

type Labels = Record<string, string>;
const LABELS: Labels = words.labels;

/**
 * `hidden`: fields that the form sends and nobody types. `without`: fields that are left out, or
 * drawn by `kids`.
 */
type ActOptions = {
  hidden?: Record<string, string>;
  labels?: Labels;
  without?: readonly string[];
  /** Fields that this form needs, although the command can do without them. */
  needed?: readonly string[];
};

/**
 * Builds a form from an action's input. A viewer gets no form. A clerk gets a disabled form if the
 * action needs an operator.
 */
export function act(here: Here, name: string, button: string, options: ActOptions = {}, ...kids: Kids[]): VNode | null {
  const { hidden = {}, labels = {}, without = [], needed = [] } = options;
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
        {fields.map((one) => {
          const isNeeded = one.isNeeded || needed.includes(one.name);
          return field({ ...one, isNeeded }, { ...LABELS, ...labels }, typed, name !== 'cases decide');
        })}
        <button>{button}</button>
        {!isAllowed && <small>{`needs an operator (${operatorsOf(here)})`}</small>}
      </fieldset>
    </form>
  );
}

/**
 * The values that were typed into this form. `seen` is not compared, because a case that changed
 * keeps its form.
 */
function typedFor({ typed }: Here, name: string, hidden: Record<string, string>) {
  const isThis = ([key, value]: [string, string]) => key === 'seen' || typed?.values.get(key) === value;
  return typed?.values.get('do') === name && Object.entries(hidden).every(isThis) ? typed : null;
}

/** Whether this page shows again what was typed into a form of this action. */
export const isTyped = ({ typed }: Here, name: string): boolean => typed?.values.get('do') === name;

const operatorsOf = ({ parts: { config } }: Here): string =>
  config.OPERATORS.flatMap(({ name, role }) => (role === 'operator' ? name : [])).join(', ') ||
  'the person who set up the shop';

type Field = ReturnType<typeof fieldsOf>[number];

/** @param isSimple the required fields do not depend on the chosen decision */
function field({ name, isFlag, isNeeded }: Field, labels: Labels, typed: Here['typed'], isSimple: boolean): VNode {
  const label = labels[name] ?? name;
  const value = typed?.values.get(name) ?? '';
  const fault = typed?.faults[name];
  const box = <input type="checkbox" name={name} value="on" checked={value === 'on'} />;
  if (isFlag) return <label class="choice">{[box, label]}</label>;
  const how = { maxLength: 500, autocomplete: 'off', inputMode: name === 'amount' ? ('decimal' as const) : undefined };
  return (
    <label class={name === 'note' ? 'wide' : ''}>
      {isNeeded || name === 'number' ? label : `${label} (optional)`}
      <input name={name} value={value} required={isNeeded && isSimple} aria-invalid={fault !== undefined} {...how} />
      {fault !== undefined && <span class="bad fault">{fault}</span>}
    </label>
  );
}

/** The confirmation page of an action, and the message after it. */
export type Sure = Record<'title' | 'button' | 'done' | 'reads' | 'customer', string> & {
  facts: [string, string][];
  /** The action cannot be undone. */
  isFinal: boolean;
};

/**
 * The form that asks for confirmation. Its hidden fields keep the typed values, so that Back
 * restores them.
 */
export const surePage = (
  { facts, reads, customer, button, isFinal }: Sure,
  { address }: Here,
  sent: URLSearchParams,
): VNode => (
  <form method="post" action={address}>
    {detail(facts)}
    {reads !== '' && customer !== '' && card(`${customer} will read:`, line(reads))}
    {isFinal && line(<b>This cannot be undone.</b>)}
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
