import { NOT_A_PERSON } from '../../cases/decision.ts';
import type { Told } from './flash-message.ts';

/** A filled-in form: who does what to which rows, and why. */
export type DeedForm = {
  by: string;
  note: string;
  /** Of the ticked rows. */
  ids: readonly string[];
  /** Which button was pressed. */
  deed: string;
  /** A field, trimmed; null when it is empty. */
  field(name: string): string | null;
  /** What was sent, all of it but the form's token: a page that asks once more sends it again. */
  sent: readonly (readonly [name: string, value: string])[];
};

export const MAX_NAME = 80;
const MAX_NOTE = 500;
const MAX_ROWS = 200;

/** @returns the form, or what to tell a person who left something out */
export function readDeedForm(body: unknown): DeedForm | { told: Told } {
  const fields = new URLSearchParams(String(body));
  const field = (name: string): string | null => /\S/.exec(fields.get(name) ?? '')?.input.trim() ?? null;
  const by = field('by')?.slice(0, MAX_NAME) ?? null;
  const note = field('note')?.slice(0, MAX_NOTE) ?? null;
  if (by === null || note === null) return { told: { unnamed: 1 } };
  // Its entries could not be told from ours.
  if (NOT_A_PERSON.includes(by)) return { told: { 'not-a-person': 1 } };
  // Every row of the page comes along, for whoever ticks the page instead of its rows.
  const ids = [...new Set(fields.getAll(fields.get('all') === 'yes' ? 'shown' : 'id'))].slice(0, MAX_ROWS);
  if (ids.length === 0) return { told: { nothing: 1 } };
  const sent = [...fields].filter(([name]) => name !== 'form');
  return { by, note, ids, deed: field('deed') ?? '', field, sent };
}
