import type { Decision } from '../../src/cases/decisions.ts';
import type { Finding } from '../../src/cases/classes.ts';
import type { HistoryRow } from '../../src/ledger/history.ts';
import type { Answer } from '../../src/ledger/sources.ts';
import { sum } from '../../src/ledger/sources.ts';

/**
 * Random worlds and lives with a known truth. A world defines how a payment service reports. A life
 * is what happens to one payment in it. The rules see only the reports, and at the end, their books
 * are compared with the truth.
 */

/** The functions of the rules that the simulator needs. */
export type Shop = {
  verify(answer: Answer, now: Date): void;
  history(rows: readonly HistoryRow[], readAt: Date, isInReach: boolean): void;
  refund(amount: bigint, isOffProvider: boolean, now: Date): void;
  decide(as: Decision, elsewhere: boolean, now: Date): string | null;
  openCase(): Pick<Finding, 'class' | 'held' | 'missing'> | undefined;
  /** The balance at the provider according to the books. */
  expected(): bigint;
  refundable(): bigint;
  isPaid: boolean;
  isEnded: boolean;
};

export const PRICE = 8500n;
const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-01T08:00:00Z');

type Outflow = { kind: 'refund' | 'chargeback'; id: string; amount: bigint; at: number; undoneAt: number };
/** `truth`: what the row means for the balance, to somebody who knows the service. */
type ToldRow = HistoryRow & { truth: bigint };
type Charge = { id: string; amount: bigint; at: number; outflows: Outflow[] };

type Form = 'state' | 'own id' | 'charge id' | 'no id' | 'reversed row';
/** How the service reports. A plain world reports everything immediately and as documented. */
export type World = {
  verifyIds: boolean;
  verifyBalance: 'newest' | 'first';
  historyIds: boolean;
  refundForm: Form;
  chargebackForm: Form;
  /** The events that each source never reports. */
  blind: Record<'verify' | 'history', { refund: boolean; chargeback: boolean; again: boolean }>;
  /** A charge that went out completely is called failed. */
  saysFailed: Record<'verify' | 'history', boolean>;
  reachDays: number;
  /** The probabilities that a report is old, proves nothing, or omits something. */
  stale: number;
  pending: number;
  forgets: number;
};

/** Numbers from 0 to 1, always the same for a seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;
const chance = (random: Random, share: number): boolean => random() < share;
const pick = <One>(random: Random, all: readonly One[]): One => all[Math.floor(random() * all.length)] as One;

export function hardWorld(random: Random): World {
  const blindness = () => ({
    refund: chance(random, 0.2),
    chargeback: chance(random, 0.2),
    again: chance(random, 0.1),
  });
  return {
    verifyIds: chance(random, 0.8),
    verifyBalance: pick(random, ['newest', 'newest', 'first']),
    historyIds: chance(random, 0.8),
    refundForm: pick(random, ['state', 'own id', 'charge id', 'no id']),
    chargebackForm: pick(random, ['state', 'own id', 'charge id', 'no id', 'reversed row']),
    blind: { verify: blindness(), history: blindness() },
    saysFailed: { verify: chance(random, 0.1), history: chance(random, 0.1) },
    reachDays: chance(random, 0.3) ? 20 : Infinity,
    stale: pick(random, [0, 0, 0.1]),
    pending: pick(random, [0, 0, 0.05]),
    forgets: pick(random, [0, 0, 0.05]),
  };
}

/** An adapter and a service exactly as documented: nothing is unreported, late or unclear. */
export function documentedWorld(random: Random): World {
  const sees = { refund: false, chargeback: false, again: false };
  return {
    ...hardWorld(random),
    verifyIds: true,
    verifyBalance: 'newest',
    historyIds: true,
    blind: { verify: sees, history: sees },
    saysFailed: { verify: false, history: false },
    reachDays: Infinity,
    stale: 0,
    pending: 0,
    forgets: 0,
  };
}

const isThere = (one: Outflow, at: number): boolean => one.at <= at && at < one.undoneAt;
const goneOf = (outflows: readonly Outflow[]): bigint => sum(outflows.map(({ amount }) => amount));

/** The money of one payment at the provider, and the reports of each source about it. */
class Provider {
  readonly charges: Charge[] = [];
  readonly world: World;
  readonly random: Random;
  private ids = 0;

  constructor(world: World, random: Random) {
    this.world = world;
    this.random = random;
  }

  charge(amount: bigint, at: number): void {
    this.charges.push({ id: this.nextId('c'), amount, at, outflows: [] });
  }

  /** @returns null if no money is left */
  takeOut(kind: Outflow['kind'], wanted: bigint, at: number, charge = pick(this.random, this.charges)): Outflow | null {
    // A dispute takes the whole charge, even after a refund.
    const left =
      kind === 'chargeback' ? charge.amount : charge.amount - goneOf(charge.outflows.filter((one) => isThere(one, at)));
    const amount = wanted < left ? wanted : left;
    if (amount <= 0n) return null;
    const outflow = { kind, id: this.nextId(kind === 'refund' ? 'r' : 'x'), amount, at, undoneAt: Infinity };
    charge.outflows.push(outflow);
    return outflow;
  }

  private nextId(letter: string): string {
    this.ids += 1;
    return `${letter}${this.ids}`;
  }

  outflows(): Outflow[] {
    return this.charges.flatMap(({ outflows }) => outflows);
  }

  received(): bigint {
    return sum(this.charges.map(({ amount }) => amount));
  }

  balance(at: number): bigint {
    return this.received() - goneOf(this.outflows().filter((one) => isThere(one, at)));
  }

  private seenAt(at: number, isClear: boolean): number {
    return !isClear && chance(this.random, this.world.stale) ? at - DAY_MS * (1 + 2 * this.random()) : at;
  }

  /** @param isClear excludes random effects: old answers, and answers that prove nothing */
  answer(now: number, isClear: boolean): Answer {
    const { world, random } = this;
    const at = this.seenAt(now, isClear);
    const blind = world.blind.verify;
    const seen = this.charges.filter((one, place) => one.at <= at && !(blind.again && place > 0));
    const charge = world.verifyBalance === 'newest' ? seen.at(-1) : seen[0];
    const nothing = { id: null, isHere: true, received: null, balance: 0n, isDoubted: false };
    if (charge === undefined || (!isClear && chance(random, world.pending))) return { ...nothing, outcome: 'unproven' };
    if (!isClear && chance(random, world.forgets)) return { ...nothing, outcome: 'failed' };
    const gone = goneOf(charge.outflows.filter((one) => isThere(one, at) && !blind[one.kind]));
    const outflow = gone < charge.amount ? gone : charge.amount;
    const id = world.verifyIds ? charge.id : null;
    if (outflow === charge.amount && world.saysFailed.verify) return { ...nothing, id, outcome: 'failed' };
    const outcome = outflow === charge.amount ? 'reversed' : 'paid';
    return { ...nothing, id, outcome, received: charge.amount, balance: charge.amount - outflow };
  }

  rows(now: number, isClear: boolean): ToldRow[] {
    const { world, random } = this;
    const at = this.seenAt(now, isClear);
    const seen = this.charges.filter((one, place) => one.at <= at && !(world.blind.history.again && place > 0));
    const rows = seen.flatMap((charge) => this.rowsOf(charge, at));
    return isClear || !chance(random, world.forgets) ? rows : rows.filter(() => chance(random, 0.5));
  }

  private rowsOf(charge: Charge, at: number): ToldRow[] {
    const { world } = this;
    const from = at - world.reachDays * DAY_MS;
    const shown = charge.outflows.filter((one) => isThere(one, at) && !world.blind.history[one.kind]);
    const states = goneOf(shown.filter((one) => this.formOf(one) === 'state'));
    const outflow = states < charge.amount ? states : charge.amount;
    const isReversed = outflow === charge.amount;
    const ownRows = shown.filter((one) => one.at >= from && this.formOf(one) !== 'state');
    const rows = ownRows.map((one) => this.outflowRow(charge, one));
    if (charge.at < from || (isReversed && world.saysFailed.history)) return rows;
    const own = { received: charge.amount, outflow, isReversed, isDoubted: false, truth: charge.amount - outflow };
    return [{ id: world.historyIds ? charge.id : null, ...own }, ...rows];
  }

  private formOf({ kind }: Outflow): Form {
    return kind === 'refund' ? this.world.refundForm : this.world.chargebackForm;
  }

  private outflowRow(charge: Charge, one: Outflow): ToldRow {
    const form = this.formOf(one);
    const isReversed = form === 'reversed row';
    const named = form === 'charge id' ? charge.id : one.id;
    const id = form === 'no id' || !this.world.historyIds ? null : named;
    const received = isReversed ? one.amount : 0n;
    return { id, received, outflow: one.amount, isReversed, isDoubted: false, truth: -one.amount };
  }

  isInReach(now: number): boolean {
    return now - (this.charges[0]?.at ?? now) < this.world.reachDays * DAY_MS;
  }
}

/** How a life ended. */
export type Ending = 'right' | 'hidden loss' | 'loss behind a decision' | 'hidden debt' | 'false case';

/**
 * Simulates one life.
 * @param kind `plain`: paid exactly, perhaps refunded; `hard`: anything may happen
 */
export function live(
  seed: number,
  kind: 'plain' | 'hard' | 'documented',
  shopOf: () => Shop,
): { ending: Ending; trace: string[] } {
  const random = randomOf(seed);
  const world = kind === 'hard' ? hardWorld(random) : documentedWorld(random);
  return new Life(world, random, shopOf(), kind === 'plain').live();
}

const textOf = (report: unknown): string =>
  JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

class Life {
  private readonly provider: Provider;
  private readonly world: World;
  private readonly random: Random;
  private readonly shop: Shop;
  private readonly isPlain: boolean;
  private now = START;
  private hasExplained = false;
  private hadFalseCase = false;
  /** The newest report of each source. */
  private readonly told = { verify: '', history: '' };
  private sawCase = false;
  private readonly trace: string[] = [];

  constructor(world: World, random: Random, shop: Shop, isPlain: boolean) {
    this.provider = new Provider(world, random);
    this.world = world;
    this.random = random;
    this.shop = shop;
    this.isPlain = isPlain;
  }

  live(): { ending: Ending; trace: string[] } {
    const first = this.isPlain
      ? PRICE
      : pick(this.random, [PRICE, PRICE, PRICE, PRICE, PRICE, PRICE, PRICE, 8000n, 10_000n]);
    this.provider.charge(first, this.now);
    this.note(`charge ${first}`);
    this.verify();
    for (let day = 1; day <= 40; day += 1) {
      this.now = START + day * DAY_MS;
      if (chance(this.random, 0.06)) this.event();
      if (chance(this.random, 0.25)) this.verify();
      this.read();
      if (chance(this.random, 0.5)) this.person();
    }
    // At the end, all sources report everything they can, several times, and a person continues to
    // decide.
    for (let day = 52; day <= 82; day += 10) {
      this.now = START + day * DAY_MS;
      this.read(true);
      if (day < 82) this.person();
    }
    this.verify(true);
    this.read(true);
    return { ending: this.ending(), trace: this.trace };
  }

  private note(what: string): void {
    const open = this.shop.openCase();
    if (open !== undefined) this.sawCase = true;
    const about = open === undefined ? '' : ` | ${open.class} held ${open.held} missing ${open.missing}`;
    const day = Math.round((this.now - START) / DAY_MS);
    this.trace.push(
      `${day}: ${what} | there ${this.provider.balance(this.now)} expected ${this.shop.expected()}${about}`,
    );
  }

  private verify(isClear = false): void {
    const answer = this.provider.answer(this.now, isClear);
    this.told.verify = textOf(answer);
    this.shop.verify(answer, new Date(this.now));
    this.note(`verify ${answer.id ?? ''} ${answer.outcome} ${answer.received ?? ''} left ${answer.balance}`);
  }

  /** Reads the history. If something differs, verify is asked before the history is applied. */
  private read(isClear = false): void {
    const rows = this.provider.rows(this.now, isClear);
    const listed = sum(rows.map(({ received, outflow }) => received - outflow));
    const differs = this.shop.openCase() !== undefined || listed !== this.shop.expected();
    if (differs) this.verify(isClear);
    this.told.history = textOf(rows);
    this.shop.history(rows, new Date(this.now), this.provider.isInReach(this.now));
    const text = rows.map(
      ({ id, received, outflow, isReversed }) => `${id ?? ''} ${received}-${outflow}${isReversed ? '!' : ''}`,
    );
    this.note(`history ${text.join(', ')}`);
  }

  private event(): void {
    const { random, provider, isPlain } = this;
    const kind = isPlain
      ? pick(random, ['refund, then book', 'book, then refund', 'bank'] as const)
      : pick(random, EVENTS);
    const outflows = provider.outflows().filter((one) => isThere(one, this.now));
    if (kind === 'charge') provider.charge(pick(random, [PRICE, PRICE, 2500n]), this.now);
    else if (kind === 'chargeback') provider.takeOut('chargeback', pick(random, [PRICE, PRICE, 2500n]), this.now);
    else if (kind === 'undo' && outflows.length > 0) pick(random, outflows).undoneAt = this.now;
    else if (kind === 'end' && !this.shop.isPaid) this.shop.isEnded = true;
    else if (kind !== 'undo' && kind !== 'end') this.refundEvent(kind);
    this.note(kind);
  }

  private refundEvent(kind: Exclude<(typeof EVENTS)[number], 'charge' | 'chargeback' | 'undo' | 'end'>): void {
    const left = this.shop.refundable();
    const wanted = pick(this.random, [2500n, 2500n, PRICE]);
    const amount = wanted < left ? wanted : left;
    if (amount <= 0n || !this.shop.isPaid) return;
    const now = new Date(this.now);
    if (kind === 'bank') {
      this.shop.refund(amount, true, now);
      return;
    }
    const made = kind === 'book only' ? amount : (this.provider.takeOut('refund', amount, this.now)?.amount ?? 0n);
    if (made > 0n && kind !== 'refund only') this.shop.refund(made, false, now);
  }

  /** A person looks at the open case and at the provider's own pages, and follows the advice. */
  private person(): void {
    const { shop, random } = this;
    const open = shop.openCase();
    if (open === undefined) return;
    const there = this.provider.balance(this.now);
    const surplus = there - shop.expected();
    if (surplus === 0n && this.bothToldTheTruth()) this.hadFalseCase = true;
    const [as, elsewhere] = this.advice(open, surplus);
    if (as === null) return;
    const refused = shop.decide(as, elsewhere, new Date(this.now));
    if (refused === null && as === 'explain') this.hasExplained = true;
    // A person who decides to refund held money refunds it at the service, if it is still there.
    if (refused === null && as === 'refund' && open.held > 0n && !elsewhere) {
      const excess = there - shop.expected();
      if (excess > 0n && chance(random, 0.95)) this.refundAtService(excess);
    }
    this.note(`decide ${as}${elsewhere ? ' elsewhere' : ''}${refused === null ? '' : `: ${refused}`}`);
  }

  private refundAtService(amount: bigint): void {
    let left = amount;
    for (const charge of [...this.provider.charges].reverse())
      if (left > 0n) left -= this.provider.takeOut('refund', left, this.now, charge)?.amount ?? 0n;
  }

  private advice(open: { class: string; held: bigint }, surplus: bigint): [Decision | null, boolean] {
    const { random } = this;
    if (open.class === 'refund_not_shown') {
      if (surplus <= 0n) return [null, false];
      if (chance(random, 0.5)) return ['keep', false];
      if (chance(random, 0.5)) return ['refund', true];
      this.refundAtService(surplus);
      return [null, false];
    }
    if (open.held > 0n) {
      if (open.class === 'underpaid' && chance(random, 0.4)) return ['accept', false];
      if (surplus <= 0n) return ['refund', false];
      return pick(random, [
        ['refund', false],
        ['refund', false],
        ['keep', false],
        ['refund', true],
      ] as [Decision, boolean][]);
    }
    // Nothing is missing: the report is wrong, or it is about money that is not expected.
    if (surplus >= 0n) return ['explain', false];
    if (open.class !== 'reversed') return [null, false];
    const newest = this.provider
      .outflows()
      .filter((one) => isThere(one, this.now))
      .at(-1);
    return [newest?.kind === 'refund' && this.shop.isPaid ? 'refund' : 'write-off', false];
  }

  /** Both newest reports were true, so no case should be open. */
  private bothToldTheTruth(): boolean {
    const { isVerifyRight, isHistoryRight } = this.whoIsRight();
    return (
      isVerifyRight &&
      isHistoryRight &&
      this.told.verify === textOf(this.provider.answer(this.now, true)) &&
      this.told.history === textOf(this.provider.rows(this.now, true))
    );
  }

  private ending(): Ending {
    const { shop, provider, now } = this;
    if (this.isPlain && this.sawCase) return 'false case';
    const there = provider.balance(now);
    const expected = shop.expected();
    const isOpen = shop.openCase() !== undefined;
    const { isVerifyRight, isHistoryRight } = this.whoIsRight();
    if (this.hadFalseCase) return 'false case';
    if (isOpen) return there === expected && isVerifyRight && isHistoryRight ? 'false case' : 'right';
    if (!isVerifyRight && !isHistoryRight) return 'right';
    if (there > expected) return 'hidden debt';
    if (there === expected) return 'right';
    return this.hasExplained ? 'loss behind a decision' : 'hidden loss';
  }

  /**
   * Whether the current report of a source is true. Verify reports everything only about a payment
   * with one charge.
   */
  private whoIsRight(): { isVerifyRight: boolean; isHistoryRight: boolean } {
    const { provider, now } = this;
    const there = provider.balance(now);
    const answer = provider.answer(now, true);
    const [first] = provider.charges;
    const isOneCharge = provider.charges.length === 1 && answer.received === first?.amount;
    const told = sum(provider.rows(now, true).map(({ truth }) => truth));
    const isBlind = (source: 'verify' | 'history'): boolean =>
      provider.outflows().some(({ kind }) => this.world.blind[source][kind]);
    return {
      isVerifyRight: isOneCharge && answer.balance === there && !isBlind('verify'),
      isHistoryRight: provider.isInReach(now) && told === there && !isBlind('history'),
    };
  }
}

const EVENTS = [
  'charge',
  'chargeback',
  'chargeback',
  'undo',
  'refund, then book',
  'book, then refund',
  'refund only',
  'book only',
  'bank',
  'end',
] as const;

/**
 * Simulates many lives.
 * @returns the number of lives per ending, and the seeds of those that did not end right
 */
export function liveMany(
  from: number,
  lives: number,
  kind: Parameters<typeof live>[1],
  shopOf: () => Shop,
): { endings: Record<Ending, number>; seeds: string[] } {
  const endings = { right: 0, 'hidden loss': 0, 'loss behind a decision': 0, 'hidden debt': 0, 'false case': 0 };
  const seeds: string[] = [];
  for (let seed = from; seed < from + lives; seed += 1) {
    const { ending } = live(seed, kind, shopOf);
    endings[ending] += 1;
    if (ending !== 'right') seeds.push(`${ending}: ${seed}`);
  }
  return { endings, seeds };
}
