import type { Database } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { resolveFinding } from '../../cases/findings.ts';
import { isDecision } from '../../cases/decision.ts';
import { resolveSuspense } from '../../cases/suspense.sql.ts';
import {
  addNote,
  assignItem,
  FINDINGS,
  stillOpen,
  SUSPENSE,
  type WorkList,
} from '../../cases/work-lists.sql.ts';
import { MAX_NAME, type ActionForm } from '../actions/action-form.ts';
import type { Told } from '../actions/flash-message.ts';
import { forEachTick, readTicks, type Tick } from './selection.ts';

type Actions = (form: ActionForm) => Promise<Told>;
/** Returns the function that resolves one item, or a word of {@link Told}: why no item can be resolved. */
type Resolve = (form: ActionForm) => ((tick: Tick) => Promise<boolean>) | 'no-decision';

/** Resolves, assigns or notes the ticked findings, as the pressed button says. */
export function findingActions(database: Database, mode: Mode): Actions {
  return actionsOn(database, mode, FINDINGS, ({ by, note }) => ({ id, seen }) => {
    return resolveFinding(database, mode, id, by, note, seen);
  });
}

/** The same for items in suspense, which need a decision to be resolved. */
export function suspenseActions(database: Database, mode: Mode): Actions {
  return actionsOn(database, mode, SUSPENSE, ({ by, note, field }) => {
    const [decision, refundNote] = [field('decision') ?? '', field('refund')];
    if (!isDecision(decision) || (refundNote !== null && decision !== 'refund')) return 'no-decision';
    return ({ id, seen }) => resolveSuspense(database, mode, id, { by, note, decision, refundNote }, seen);
  });
}

function actionsOn(database: Database, mode: Mode, list: WorkList, resolve: Resolve): Actions {
  return async (form) => {
    const { operation, ids, by, note, field } = form;
    const each = (word: keyof Told, act: (tick: Tick) => Promise<boolean>): Promise<Told> =>
      forEachTick(readTicks(ids), word, act, (left) => stillOpen(database, list, mode, left));
    const owner = ownerIn(field);
    switch (operation) {
      case 'resolve': {
        const act = resolve(form);
        return act === 'no-decision' ? { 'no-decision': 1 } : each('resolved', act);
      }
      case 'note':
        return each('noted', ({ id }) => addNote(database, list, mode, id, by, note));
      case 'assign':
        if (owner === null) return { 'no-owner': 1 };
        return each('assigned', ({ id, seen }) =>
          assignItem(database, list, mode, id, owner, by, { note, seen }),
        );
      default:
        return { 'no-action': 1 };
    }
  };
}

function ownerIn(field: ActionForm['field']): string | null {
  return field('owner')?.slice(0, MAX_NAME) ?? null;
}
