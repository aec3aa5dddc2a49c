import type { Logger } from 'pino';
import { codeOf } from '../gateway/errors.ts';
import { storable } from '../gateway/evidence.ts';
import { digestOf } from '../platform/ids.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';
import { startLoop, type Loop } from '../platform/loop.ts';
import { channelsOf, type Channel } from './channels.ts';
import { STATES, type LookParts, type Seen, type State } from './states.ts';

export type AlertParts = LookParts & { channels: readonly Channel[]; logger: Logger };

/**
 * What the program told a channel about a state, and when (`at`); when a worker last saw the state
 * (`seenAt`).
 */
type Told = { upTo: number; at: number; seenAt: number; isOver: boolean } & Pick<Seen, 'kinds' | 'ids'>;
/** By the names of states: the row of a mode and channel in the table `settings`. */
type Book = Record<string, Told>;

/**
 * Processes may see different things, as a key that another has replaced: a state ends when none
 * sees it.
 */
const QUIET_MS = 5 * 60_000;
/** What comes to a state that goes on is told together. */
const APART_MS = 15 * 60_000;
/** Nothing new is sent later in a pass: what is being sent then ends before the lease does. */
const TELL_MS = 45_000;

const EVERY_MS = 60_000;

/** In each server and worker: where no worker runs, a server says so. */
export function startAlerts(parts: Omit<AlertParts, 'channels'>, config: Parameters<typeof channelsOf>[0]): Loop {
  const channels = channelsOf(config, parts.logger);
  return startLoop('alerts', () => alertPass({ ...parts, channels }), EVERY_MS, parts.logger);
}

/**
 * Tells each channel what it was not told yet: that a state began, that there is more of it, that
 * it is over. What could not be sent is tried again by the next pass, under the same id. @returns
 * false: nothing more is to do now
 */
export async function alertPass(parts: AlertParts): Promise<boolean> {
  await Promise.all(parts.channels.map((channel) => tell(parts, channel)));
  return false;
}

async function tell(parts: AlertParts, channel: Channel): Promise<void> {
  const claimed = await claim(parts.prisma, `alert:${parts.gateway.mode}:${channel.name}`);
  if (claimed === null) return;
  const { book, save } = claimed;
  const until = performance.now() + TELL_MS;
  for (const state of STATES) {
    const told = book[state.name];
    const seen = await lookAt(parts, state, told);
    if (seen === undefined) continue;
    const now = Date.now();
    if (seen !== null && told?.isOver === false) told.seenAt = now;
    if (!isNews(seen, told, now)) continue;
    if (performance.now() > until) break;
    // What a channel refuses keeps no other state back.
    if (!(await send(parts, channel, state, seen, told))) continue;
    const { upTo = 0, kinds, ids } = seen ?? {};
    book[state.name] = { upTo, at: now, seenAt: now, isOver: seen === null, kinds, ids };
    await save(false);
  }
  await save(true);
}

/**
 * Takes a channel for a minute, so that two workers do not tell twice: by a conditional update,
 * since a lock would keep a transaction open while a mail server thinks. If a worker dies, another
 * one takes the channel when the lease ends. A lease that ends later than a lease can was written
 * before the database's clock was set back, and counts as ended. The second more than a minute is
 * there because the database rounds the end of a lease to a millisecond, also upwards.
 */
async function claim(prisma: PrismaClient, name: string) {
  const [row] = await prisma.$queryRaw<{ value: Book; at: Date }[]>`
    INSERT INTO settings (name, value, at) VALUES (${name}, '{}', clock_timestamp() + interval '1 minute')
    ON CONFLICT (name) DO UPDATE SET at = excluded.at
    WHERE settings.at NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '61 seconds'
    RETURNING value, at`;
  if (row === undefined) return null;
  const save = (isDone: boolean) => prisma.$executeRaw`
    UPDATE settings SET value = ${JSON.stringify(row.value)}::jsonb,
      at = CASE WHEN ${isDone} THEN clock_timestamp() ELSE at END WHERE name = ${name} AND at = ${row.at}`;
  return { book: row.value, save };
}

/** @returns undefined: nobody knows, and what was told stays */
function lookAt(parts: AlertParts, state: State, told: Told | undefined): Promise<Seen | null | undefined> {
  return state.look(parts, told?.isOver === false ? told : null).catch((error: unknown) => {
    parts.logger.warn({ alert: state.name, err: error }, 'a state could not be looked at');
    return undefined;
  });
}

function isNews(seen: Seen | null, told: Told | undefined, now: number): boolean {
  if (told === undefined || told.isOver) return seen !== null;
  if (seen === null) return now - told.seenAt >= QUIET_MS;
  // A new kind is told at once, and more of a known kind together.
  if (seen.kinds?.some((kind) => told.kinds?.includes(kind) !== true) === true) return true;
  const isMore = (seen.upTo ?? 0) > told.upTo || seen.ids?.some((id) => told.ids?.includes(id) !== true) === true;
  return isMore && now - told.at >= APART_MS;
}

/** @returns whether it was sent */
async function send(parts: AlertParts, channel: Channel, state: State, seen: Seen | null, told?: Told) {
  const { mode } = parts.gateway;
  const { name, fine } = state;
  const isOver = seen === null;
  const digest = digestOf([mode, name, isOver, seen?.upTo ?? 0, seen?.kinds ?? [], told?.at ?? 0]);
  const id = `alert_${Buffer.from(digest).toString('hex').slice(0, 32)}`;
  // Cases quote the service: whatever it wrote, no address goes out.
  const says = (seen?.says ?? `Over. ${fine}`).split('\n').map(storable).join('\n');
  try {
    await channel.send({ id, name, mode, isOver, says, todo: seen?.todo ?? null });
    return true;
  } catch (error) {
    parts.logger.warn({ alert: name, channel: channel.name, reason: codeOf(error) }, 'an alert could not be sent');
    return false;
  }
}
