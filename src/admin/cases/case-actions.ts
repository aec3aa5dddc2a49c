import type { Database } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { resolveFinding } from '../../cases/findings.ts';
import { heldUnder } from '../../cases/findings-list.sql.ts';
import type { Accept } from '../../payments/accept.ts';
import { isDecision } from '../../cases/decision.ts';
import { noteSurplusRefund, resolveSuspense } from '../../cases/suspense.sql.ts';
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
type Resolve = (form: ActionForm) => ((tick: Tick) => Promise<boolean>) | Promise<Told> | 'no-decision';

/** Resolves, assigns or notes the ticked findings, as the pressed button says. */
export function findingActions(database: Database, mode: Mode): Actions {
  return actionsOn(database, mode, FINDINGS, async ({ by, note, ids }) => {
    const ticks = readTicks(ids);
    const held = new Set<bigint>();
    for (const { id } of ticks) if ((await heldUnder(database, mode, id)) !== null) held.add(id);
    const free = ticks.filter(({ id }) => !held.has(id));
    const told = await forEachTick(
      free,
      'resolved',
      ({ id, seen }) => resolveFinding(database, mode, id, by, note, seen),
      (left) => stillOpen(database, FINDINGS, mode, left),
    );
    return { ...told, 'decide-first': held.size };
  });
}

/** The same for items in suspense, which need a decision to be resolved. */
export function suspenseActions(database: Database, mode: Mode, accept: Accept): Actions {
  return actionsOn(database, mode, SUSPENSE, ({ by, note, field, ids }) => {
    const [decision, refundNote] = [field('decision') ?? '', field('refund')];
    if (!isDecision(decision) || (refundNote !== null) !== (decision === 'refund')) return 'no-decision';
    if (decision === 'accept') return acceptTicked(accept, readTicks(ids), by, note);
    return ({ id, seen }) => resolveSuspense(database, mode, id, { by, note, decision, refundNote }, seen);
  });
}

function actionsOn(database: Database, mode: Mode, list: WorkList, resolve: Resolve): Actions {
  return async (form) => {
    const { operation, ids, by, note, field } = form;
    const each = (word: keyof Told, act: (tick: Tick) => Promise<boolean>): Promise<Told> =>
      forEachTick(readTicks(ids), word, act, (left) => stillOpen(database, list, mode, left));
    const owner = ownerIn(field);
    const refundNote = field('refund');
    switch (operation) {
      case 'resolve': {
        const act = resolve(form);
        if (act === 'no-decision') return { 'no-decision': 1 };
        return typeof act === 'function' ? each('resolved', act) : act;
      }
      case 'surplus':
        if (refundNote === null || list !== SUSPENSE) return { 'no-surplus': 1 };
        return forEachTick(
          readTicks(ids),
          'surplus-noted',
          ({ id, seen }) => noteSurplusRefund(database, mode, id, { by, note, refundNote }, seen),
          (left) => stillOpen(database, list, mode, left),
        ).then(({ changed = 0, ...told }) => ({ ...told, 'no-surplus': changed }));
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

/** One after the other: each asks the service. */
async function acceptTicked(accept: Accept, ticks: readonly Tick[], by: string, note: string): Promise<Told> {
  const told = { accepted: 0, 'not-accepted': 0, gone: 0, 'not-answered': 0 };
  for (const tick of ticks) {
    const outcome = await accept({ ...tick, by, note });
    if (outcome === 'accepted') told.accepted += 1;
    else if (outcome === 'gone') told.gone += 1;
    else if (outcome === 'unanswered') told['not-answered'] += 1;
    else told['not-accepted'] += 1;
  }
  return told;
}

function ownerIn(field: ActionForm['field']): string | null {
  return field('owner')?.slice(0, MAX_NAME) ?? null;
}
