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
 * What a channel was last told about a state, when that was (`at`), and when a worker last saw the
 * state (`seenAt`).
 */
type Told = { upTo: number; at: number; seenAt: number; isOver: boolean } & Pick<Seen, 'kinds' | 'ids'>;
/** By state name. It is the row of a mode and channel in the table `settings`. */
type Book = Record<string, Told>;

/**
 * Processes may disagree, for example about a key that only one of them has replaced. A state ends
 * when no process has seen it for this long.
 */
const QUIET_MS = 5 * 60_000;
/** News about a continuing state is collected for this long and sent together. */
const APART_MS = 15 * 60_000;
/**
 * After this time, a pass starts no other alert, so that the last one ends before the lease does.
 */
const TELL_MS = 45_000;

const EVERY_MS = 60_000;

/** Runs in each server and worker, so that a server reports a missing worker. */
export function startAlerts(parts: Omit<AlertParts, 'channels'>, config: Parameters<typeof channelsOf>[0]): Loop {
  const channels = channelsOf(config, parts.logger);
  return startLoop('alerts', () => alertPass({ ...parts, channels }), EVERY_MS, parts.logger);
}

/**
 * Tells each channel what is new: a state began, grew or ended. If an alert cannot be sent, the
 * next pass sends it again with the same id.
 * @returns false: nothing more is due now
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
    // If a channel refuses one state, it still gets the others.
    if (!(await send(parts, channel, state, seen, told))) continue;
    const { upTo = 0, kinds, ids } = seen ?? {};
    book[state.name] = { upTo, at: now, seenAt: now, isOver: seen === null, kinds, ids };
    await save(false);
  }
  await save(true);
}

/**
 * Claims a channel for a minute, so that two workers do not send the same alert. It uses a
 * conditional update, because a lock would keep a transaction open while a mail server responds. If
 * a worker dies, another one claims the channel when the lease ends. An end of a lease further in
 * the future than a lease lasts was written before the database's clock was set back, and counts as
 * past. The limit is a minute and a second, because the database rounds the end of a lease to a
 * millisecond, possibly upwards.
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

/** @returns undefined if the state is unknown; the channel's last alert then remains valid */
function lookAt(parts: AlertParts, state: State, told: Told | undefined): Promise<Seen | null | undefined> {
  return state.look(parts, told?.isOver === false ? told : null).catch((error: unknown) => {
    parts.logger.warn({ alert: state.name, err: error }, 'a state could not be checked');
    return undefined;
  });
}

function isNews(seen: Seen | null, told: Told | undefined, now: number): boolean {
  if (told === undefined || told.isOver) return seen !== null;
  if (seen === null) return now - told.seenAt >= QUIET_MS;
  // A new kind is told immediately. More of a known kind is collected.
  if (seen.kinds?.some((kind) => told.kinds?.includes(kind) !== true) === true) return true;
  const isMore = (seen.upTo ?? 0) > told.upTo || seen.ids?.some((id) => told.ids?.includes(id) !== true) === true;
  return isMore && now - told.at >= APART_MS;
}

/** @returns whether the alert was sent */
async function send(parts: AlertParts, channel: Channel, state: State, seen: Seen | null, told?: Told) {
  const { mode } = parts.gateway;
  const { name, fine } = state;
  const isOver = seen === null;
  const digest = digestOf([mode, name, isOver, seen?.upTo ?? 0, seen?.kinds ?? [], told?.at ?? 0]);
  const id = `alert_${Buffer.from(digest).toString('hex').slice(0, 32)}`;
  // The text of a case quotes the service, so e-mail addresses in it are removed.
  const says = (seen?.says ?? `Over. ${fine}`).split('\n').map(storable).join('\n');
  try {
    await channel.send({ id, name, mode, isOver, says, todo: seen?.todo ?? null });
    return true;
  } catch (error) {
    parts.logger.warn({ alert: name, channel: channel.name, reason: codeOf(error) }, 'an alert could not be sent');
    return false;
  }
}
