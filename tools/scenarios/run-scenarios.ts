import { createDay } from './demo-day.ts';
import { endOf, type OrderEnd } from './order-end.sql.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import type { Card } from '../../local/sandbox/faults/deck.ts';
import type { End } from './kinds.ts';
import { PLAYS } from './plays.ts';
import { resumeAfterUnitError, readCheckoutStops } from '../../src/payments/checkout-stops.sql.ts';
import { createStage, type Checkout } from './stage.ts';
import type { StartedServer } from '../../src/bootstrap/start-server.ts';

/** What became of one rehearsal. */
export type Rehearsal = { card: Card; seen: readonly string[]; end: string; isRight: boolean };

type Played = { card: Card; seen: string[]; checkout: Checkout | null };

/** Some faults befall everybody: those have the stage for themselves. The others share it, so many at a time. */
const AT_ONCE = 12;

/**
 * Plays each card of the deck against a checkout of its own, reconciles once at the end, and compares where each order
 * stands with where it should.
 * @param server with the sandbox and the worker in it, and nothing else going on
 */
export async function playCards(server: StartedServer, cards: readonly Card[]): Promise<Rehearsal[]> {
  const played = new Map<Card, Played>();
  const play = async (card: Card): Promise<void> => {
    played.set(card, await playCard(server, card));
  };
  await manyAtOnce(
    cards.filter(({ name }) => !PLAYS[name].isAlone),
    play,
  );
  for (const card of cards.filter(({ name }) => PLAYS[name].isAlone)) await play(card);
  const report = await server.program.reconcile({ dryRun: false });
  return Promise.all(cards.map((card) => judge(server, report, played.get(card), card)));
}

async function manyAtOnce(cards: readonly Card[], play: (card: Card) => Promise<void>): Promise<void> {
  const queue = cards.values();
  const work = async (): Promise<void> => {
    for (const card of queue) await play(card);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function playCard(server: StartedServer, card: Card): Promise<Played> {
  const seen: string[] = [];
  const stage = createStage(server, createDay(server), card.name, seen);
  try {
    return { card, seen, checkout: await PLAYS[card.name].run(stage) };
  } catch (error) {
    seen.push((error as Error).message);
    return { card, seen, checkout: null };
  } finally {
    // A rehearsal that failed in the middle must not spoil the next one.
    if (PLAYS[card.name].isAlone) await stage.clearsTheAir();
    await goOnSelling(server);
  }
}

/** An error of unit stops its currency until a person has looked. Here the person knows that it was played. */
async function goOnSelling({ program: { database, gateway } }: StartedServer): Promise<void> {
  for (const { currency } of await readCheckoutStops(database, gateway.mode)) {
    const request = { currency, by: 'rehearsal', note: 'the amount was a rehearsal' };
    await resumeAfterUnitError(database, gateway.mode, request);
  }
}

async function judge(
  { program }: StartedServer,
  report: ReconciliationReport,
  played: Played | undefined,
  card: Card,
): Promise<Rehearsal> {
  const { seen = [], checkout = null } = played ?? {};
  if (checkout === null) return { card, seen, end: 'it broke off', isRight: false };
  const end = await endOf(program.database, checkout.orderId);
  const findings = report.items
    .filter(({ orderId }) => orderId === checkout.orderId)
    .map((item) => item.class);
  return {
    card,
    seen,
    end: wordsFor(end, findings),
    isRight: report.complete && isAsItShould(PLAYS[card.name].end, end, findings),
  };
}

function isAsItShould(should: End, is: OrderEnd | null, findings: readonly string[]): boolean {
  return (
    is !== null &&
    is.status === should.status &&
    is.releases === should.releases &&
    is.suspense.join() === should.suspense.join() &&
    findings.join() === should.findings.join()
  );
}

function wordsFor(end: OrderEnd | null, findings: readonly string[]): string {
  if (end === null) return 'no order';
  const { status, releases, suspense } = end;
  return [
    status,
    `released ${releases === 1 ? 'once' : `${releases} times`}`,
    ...suspense.map((name) => `${name} in suspense`),
    ...findings.map((name) => `${name} raised`),
  ].join(', ');
}
