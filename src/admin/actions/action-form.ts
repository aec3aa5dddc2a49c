import { NOT_A_PERSON } from '../../cases/decision.ts';
import type { Told } from './flash-message.ts';

/** A submitted form: who does what to which rows, and why. */
export type ActionForm = {
  by: string;
  note: string;
  /** Of the ticked rows. */
  ids: readonly string[];
  /** Which button was pressed. */
  operation: string;
  /** A field, trimmed; null when it is empty. */
  field(name: string): string | null;
  /** All submitted fields except the form's token: a confirmation page sends them again. */
  sent: readonly (readonly [name: string, value: string])[];
};

export const MAX_NAME = 80;
const MAX_NOTE = 500;
const MAX_ROWS = 200;

/** @returns the form, or the message for an operator who left something out */
export function readActionForm(body: unknown): ActionForm | { told: Told } {
  const fields = new URLSearchParams(String(body));
  const field = (name: string): string | null => /\S/.exec(fields.get(name) ?? '')?.input.trim() ?? null;
  const by = field('by')?.slice(0, MAX_NAME) ?? null;
  const note = field('note')?.slice(0, MAX_NOTE) ?? null;
  if (by === null || note === null) return { told: { unnamed: 1 } };
  // Entries under this name would look like the program's own.
  if (NOT_A_PERSON.includes(by)) return { told: { 'not-a-person': 1 } };
  // The form contains every row of the page, because an operator may tick the whole
  // page instead of rows.
  const ids = [...new Set(fields.getAll(fields.get('all') === 'yes' ? 'shown' : 'id'))].slice(0, MAX_ROWS);
  if (ids.length === 0) return { told: { nothing: 1 } };
  const sent = [...fields].filter(([name]) => name !== 'form');
  return { by, note, ids, operation: field('operation') ?? '', field, sent };
}
