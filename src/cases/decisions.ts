import type { CaseClass } from './classes.ts';

export const DECISIONS = ['accept', 'refund', 'keep', 'write-off', 'explain'] as const;
export type Decision = (typeof DECISIONS)[number];

type Counter = 'came' | 'went' | 'earned' | 'kept' | 'sendBack' | 'refunded' | 'lost' | 'byItself';
type Elsewhere = 'sendBackElsewhere' | 'refundedElsewhere';
type Figures = Record<Counter | Elsewhere, bigint>;

/** What a decision is about. */
export type Situation = {
  as: Decision;
  /** Given back by other ways than the service, which never shows it. */
  elsewhere: boolean;
  /** As the person saw it: held money that a louder case hides is not given up with it. */
  case: { class: CaseClass; held: bigint; missing: bigint };
  money: Figures;
  standing: Record<'held' | 'reversed' | 'stillToGo', bigint>;
  order: { amount: bigint; isReleased: boolean; isEnded: boolean; isOurCurrency: boolean } | null;
  isReleased: boolean;
  /** What verify's newest readable answer shows in this currency. */
  shows: bigint;
};

/** What it does. `releases`: the order is paid with so much. `ends`: an unpaid order ends. */
export type Effect = { growth: Partial<Figures>; releases: bigint | null; ends: boolean };

const does = (growth: Partial<Figures>, more: Partial<Effect> = {}): Effect => {
  return { growth, releases: null, ends: false, ...more };
};
const AGAINST_SECOND = 'what went is counted against a second charge, which pays for the order: explain it';
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The table of decisions. Pure. @returns the effect, or why it is not allowed: half a sentence for people */
export function effectOf(situation: Situation): Effect | string {
  const { as, elsewhere, case: one, money: m, order, isReleased, shows, standing } = situation;
  if (elsewhere && !(as === 'refund' && (one.held > 0n || one.class === 'refund_not_shown')))
    return 'only held money, or a refund that is not shown, is given back by other ways';
  switch (as) {
    case 'accept':
      if (one.held === 0n) return 'nothing is held';
      if (!isOpen(order)) return 'the order is paid, has ended, or has another currency';
      return shows < one.held ? 'verify does not show all of it' : does({ earned: one.held }, { releases: one.held });
    case 'refund':
    case 'keep':
      return one.class === 'refund_not_shown' ? settleNotShown(situation) : giveUp(situation);
    case 'write-off': {
      if (one.class !== 'reversed' || standing.held > 0n)
        return 'only money that went, with nothing held beside it, is lost';
      const lost = min(one.missing, m.earned + m.kept - (m.refunded - m.refundedElsewhere) - m.lost);
      if (standing.reversed === 0n && m.byItself > 0n) return AGAINST_SECOND;
      return lost > 0n ? does({ lost }) : 'nothing more of it was ours';
    }
    case 'explain': {
      const isOnlyListed = one.class === 'contradicted' && !isReleased && shows === 0n;
      return one.held === 0n || isOnlyListed ? does({}) : 'money is held: accept it, refund it or keep it';
    }
  }
}

const isOpen = (order: Situation['order']): boolean =>
  order !== null && order.isOurCurrency && !order.isReleased && !order.isEnded;

/** Held money is refunded or kept, or what went of a paid order is written down as refunded. */
function giveUp({ as, elsewhere, case: one, money: m, standing, order, shows }: Situation): Effect | string {
  const isSurplus =
    as === 'refund' && one.class === 'overpaid' && order !== null && isOpen(order) && shows >= order.amount;
  const earned = isSurplus ? order.amount : 0n;
  const rest = one.held - earned;
  if (rest > 0n) {
    const away = as === 'keep' ? { kept: rest } : { sendBack: rest, ...(elsewhere && { sendBackElsewhere: rest }) };
    return isSurplus ? does({ ...away, earned }, { releases: earned }) : does(away, { ends: true });
  }
  if (as === 'keep' || one.class !== 'reversed' || standing.held > 0n) return 'no money of this case is held';
  if (standing.reversed === 0n && m.sendBack > 0n) return AGAINST_SECOND;
  const refunded = min(one.missing, m.earned - m.refunded - m.lost);
  return refunded > 0n ? does({ refunded }) : 'nothing more of it was earned';
}

/**
 * It went, but unseen, as another charge came: both are booked, and that one is refunded too. Or it went by other ways.
 * Or it did not go, and is kept.
 */
function settleNotShown({ as, elsewhere, money: m, standing: { stillToGo } }: Situation): Effect {
  if (!elsewhere) return does({ came: stillToGo, went: stillToGo, [as === 'keep' ? 'kept' : 'sendBack']: stillToGo });
  const sendBackElsewhere = min(stillToGo, m.sendBack - m.sendBackElsewhere);
  return does({
    sendBackElsewhere,
    refundedElsewhere: min(stillToGo - sendBackElsewhere, m.refunded - m.refundedElsewhere),
  });
}
