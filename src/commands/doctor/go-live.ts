import { isNamedForTrying } from '../../config/rules.ts';
import { isLoopback } from '../../platform/config-fields.ts';
import { counted, look, ok, wrong, type Answer, type Topic, type Subject } from './answers.ts';
import { BOOKS } from './books.ts';
import { ownParts, warnings } from './configuration.ts';
import { DATABASE, SERVICE } from './connections.ts';
import { beginning, checkouts, firstLive, otherMode, signatures } from './tried-out.ts';
import { WORK } from './work.ts';
import { z } from 'zod';

/**
 * What must be true before real money moves: the way from the sandbox to test mode, and from there to live.
 */
export const GO_LIVE: readonly Topic[] = [
  { about: SERVICE.about, questions: [key, ...SERVICE.questions] },
  { about: 'this program', questions: [production, access, demoShop, ownParts, ownAddress, warnings] },
  { about: DATABASE.about, questions: [...DATABASE.questions, databaseName] },
  WORK,
  BOOKS,
  {
    about: 'tried out',
    questions: [checkouts, signatures, beginning, otherMode, firstLive],
    readsTables: true,
  },
];

export const FOR_A_PERSON: readonly string[] = [
  'Was a backup restored, and did npm run reconcile -- --dry-run agree on the restored database?',
  'Do the hosted page and the bank statement show the amount of the order, in its currency?',
  'Does the receiver of releases ship once when it gets the same webhook-id twice?',
];

function key({ mode, services, config }: Subject): Answer[] {
  if (services.sandboxUrl !== null)
    return [wrong('The sandbox stands in for it.', 'set GATEWAY_URL and GATEWAY_SECRET_KEY')];
  const here = isLoopback(services.gatewayUrl)
    ? [look('GATEWAY_URL is this machine.', 'set GATEWAY_URL, unless a tunnel begins there')]
    : [];
  if (mode === 'live') return [...here, ok('The key is live: real money moves.')];
  // In production this is among the warnings.
  if (config.production) return here;
  return [...here, look('The key is for test mode.', 'set GATEWAY_SECRET_KEY once all the rest is well')];
}

function production({ config }: Subject): Answer {
  return config.production
    ? ok('NODE_ENV=production: nothing that is for development is let through.')
    : wrong('What is for development is let through.', 'set NODE_ENV=production');
}

function access({ config: { OPERATORS, ADMIN_TOKEN } }: Subject): Answer {
  if (OPERATORS.length > 0) return ok(`${counted(OPERATORS.length, 'operator')} may log in to /admin.`);
  return ADMIN_TOKEN === undefined
    ? wrong('Nobody can log in to /admin.', 'set OPERATORS, or ADMIN_TOKEN')
    : ok('ADMIN_TOKEN opens /admin.');
}

function demoShop({ config }: Subject): Answer {
  return config.demoShop
    ? wrong('The demo shop is open to shoppers.', 'set DEMO_SHOP=off')
    : ok('The demo shop is off.');
}

// With a live key this is among the warnings.
function databaseName({ services, mode }: Subject): Answer[] {
  return mode === 'test' && isNamedForTrying(services.databaseUrl.reveal())
    ? [look('The name of the database says that it is for tests.', 'set DATABASE_URL to another one')]
    : [];
}

const WITHIN_MS = 5_000;
/** What our own route answers to an empty body. */
const OURS = z.object({ type: z.enum(['/problems/malformed-request', '/problems/unsupported-media-type']) });

/**
 * Calls the address of webhooks as the service would, with an empty body, which is refused before anything
 * is read or kept. Shows whether DNS, TLS and the proxy lead to this program, as seen from this machine.
 */
export async function ownAddress({ config }: Pick<Subject, 'config'>): Promise<Answer[]> {
  if (config.PUBLIC_URL === null)
    return [wrong('Neither shoppers nor the service know our address.', 'set PUBLIC_URL')];
  const { href } = new URL('/webhooks/payments', config.PUBLIC_URL);
  const isSafe = config.PUBLIC_URL.protocol === 'https:';
  const scheme = isSafe ? [] : [wrong('Shoppers are not sent over https.', 'set PUBLIC_URL')];
  return [...scheme, await callOurselves(href)];
}

async function callOurselves(href: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(WITHIN_MS);
  const answer = await fetch(href, { method: 'POST', headers, redirect: 'manual', signal }).catch(
    (error: unknown) => error as Error,
  );
  if (answer instanceof Error) {
    const says = `${href} cannot be called: ${reasonOf(answer)}.`;
    return wrong(says, 'start the server; check DNS, TLS, the proxy');
  }
  if (answer.status >= 300 && answer.status < 400)
    return wrong(`${href} redirects, and the service does not follow.`, 'set PUBLIC_URL to where it leads');
  const isOurs = OURS.safeParse(await answer.json().catch(() => null)).success;
  if (isOurs) return ok(`Webhooks to ${href} reach this program, from this machine.`);
  if (answer.status === 503) return look(`${href} answers 503.`, 'npm run doctor; is the server starting?');
  const says = `${href} answers HTTP ${answer.status}, not as this program does.`;
  return wrong(says, 'let the proxy pass that path');
}

/** fetch itself says "fetch failed"; its cause has the code. */
function reasonOf({ name, message, cause }: Error): string {
  if (name === 'TimeoutError') return `no answer within ${WITHIN_MS / 1_000} seconds`;
  const { code, message: why } = (cause ?? {}) as { code?: string; message?: string };
  return code ?? why ?? message;
}
