import type { Database } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { resolveFinding } from '../../cases/findings.ts';
import { addNote, assignFinding, stillOpenFindings } from '../../cases/findings-list.sql.ts';
import { isDecision } from '../../cases/decision.ts';
import {
  addSuspenseNote,
  assignSuspense,
  resolveSuspense,
  stillOpenSuspense,
} from '../../cases/suspense-list.sql.ts';
import { MAX_NAME, type DeedForm } from '../actions/action-form.ts';
import type { Told } from '../actions/flash-message.ts';
import { forEachTick, readTicks, type Tick } from './selection.ts';

type Act = (tick: Tick) => Promise<boolean>;

/** Resolves, assigns or notes the ticked findings, as the pressed button says. */
export function findingDeeds(database: Database, mode: Mode): (form: DeedForm) => Promise<Told> {
  return async ({ deed, ids, by, note, field }) => {
    const each = (word: keyof Told, act: Act): Promise<Told> =>
      forEachTick(readTicks(ids), word, act, (left) => stillOpenFindings(database, mode, left));
    const owner = ownerIn(field);
    switch (deed) {
      case 'resolve':
        return each('resolved', ({ id, seen }) => resolveFinding(database, mode, id, by, note, seen));
      case 'note':
        return each('noted', ({ id }) => addNote(database, mode, id, by, note));
      case 'assign':
        if (owner === null) return { 'no-owner': 1 };
        return each('assigned', ({ id, seen }) =>
          assignFinding(database, mode, id, owner, by, { note, seen }),
        );
      default:
        return { 'no-deed': 1 };
    }
  };
}

/** The same for items in suspense, which end by a decision. */
export function suspenseDeeds(database: Database, mode: Mode): (form: DeedForm) => Promise<Told> {
  return async ({ deed, ids, by, note, field }) => {
    const each = (word: keyof Told, act: Act): Promise<Told> =>
      forEachTick(readTicks(ids), word, act, (left) => stillOpenSuspense(database, mode, left));
    const owner = ownerIn(field);
    const [decision, refundNote] = [field('decision') ?? '', field('refund')];
    switch (deed) {
      case 'resolve':
        if (!isDecision(decision) || (refundNote !== null && decision !== 'refund'))
          return { 'no-decision': 1 };
        return each('resolved', ({ id, seen }) =>
          resolveSuspense(database, mode, id, { by, note, decision, refundNote }, seen),
        );
      case 'note':
        return each('noted', ({ id }) => addSuspenseNote(database, mode, id, by, note));
      case 'assign':
        if (owner === null) return { 'no-owner': 1 };
        return each('assigned', ({ id, seen }) =>
          assignSuspense(database, mode, id, owner, by, { note, seen }),
        );
      default:
        return { 'no-deed': 1 };
    }
  };
}

function ownerIn(field: DeedForm['field']): string | null {
  return field('owner')?.slice(0, MAX_NAME) ?? null;
}
