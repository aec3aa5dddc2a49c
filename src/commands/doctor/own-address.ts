import { z } from 'zod';
import { look, ok, wrong, type Answer } from './answers.ts';
import type { Subject } from './subject.ts';

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
  return [...scheme(config.PUBLIC_URL), await callOurselves(href)];
}

function scheme({ protocol }: URL): Answer[] {
  return protocol === 'https:' ? [] : [wrong('Shoppers are not sent over https.', 'set PUBLIC_URL')];
}

async function callOurselves(href: string): Promise<Answer> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    redirect: 'manual',
  } as const;
  const answer = await fetch(href, { ...init, signal: AbortSignal.timeout(WITHIN_MS) }).catch(
    (error: unknown) => error as Error,
  );
  if (answer instanceof Error)
    return wrong(
      `${href} cannot be called: ${reasonOf(answer)}.`,
      'start the server; check DNS, TLS, the proxy',
    );
  if (answer.status >= 300 && answer.status < 400)
    return wrong(`${href} redirects, and the service does not follow.`, 'set PUBLIC_URL to where it leads');
  const isOurs = OURS.safeParse(await answer.json().catch(() => null)).success;
  if (isOurs) return ok(`Webhooks to ${href} reach this program, from this machine.`);
  if (answer.status === 503) return look(`${href} answers 503.`, 'npm run doctor; is the server starting?');
  return wrong(
    `${href} answers HTTP ${answer.status}, not as this program does.`,
    'let the proxy pass that path',
  );
}

/** fetch itself says "fetch failed"; its cause has the code. */
function reasonOf({ name, message, cause }: Error): string {
  if (name === 'TimeoutError') return `no answer within ${WITHIN_MS / 1_000} seconds`;
  const { code, message: why } = (cause ?? {}) as { code?: string; message?: string };
  return code ?? why ?? message;
}
