import type { Mutant } from './mutant.ts';

const CLIENT = 'src/gateway/client.ts';
const EXCHANGE = 'src/gateway/exchange.ts';
const BY_WIRE = [
  'test/gateway/wire.test.ts',
  'test/gateway/verify.test.ts',
  'test/gateway/initialize.test.ts',
];
const BY_FAULTS = ['test/faults/initialize.test.ts', 'test/faults/verify.test.ts'];

/** What goes out to the service, and what is taken from it. */
export const GATEWAY_MUTANTS: readonly Mutant[] = [
  {
    bug: 'a call without an answer is sent again',
    file: 'src/gateway/guarded-client.ts',
    find: 'const answer = await client.call(request);',
    replace: 'const answer = await client.call(request).catch(() => client.call(request));',
    breaks: 'one reference is initialized twice, and the shopper may pay twice',
    tests: BY_FAULTS,
  },
  {
    bug: 'redirects are followed',
    file: CLIENT,
    find: 'const answer = await exchange(pool, toWire(request, key), request)',
    replace:
      "const answer = await exchange(pool.compose((await import('undici')).interceptors.redirect({ maxRedirections: 3 })), toWire(request, key), request)",
    breaks: 'the key goes where a stranger says',
    tests: [...BY_WIRE, ...BY_FAULTS],
  },
  {
    bug: 'compressed answers are taken',
    file: EXCHANGE,
    find: `if (encoding !== undefined && encoding !== 'identity')`,
    replace: 'if (false)',
    breaks: 'compressed bytes are read as a record',
    tests: [...BY_WIRE, ...BY_FAULTS],
  },
  {
    bug: 'answers have no limit',
    file: EXCHANGE,
    find: 'if (bytes > maxBytes) throw new ClientError(`the answer is larger than ${maxBytes} bytes`, true);',
    replace: '',
    breaks: 'one answer fills the memory',
    tests: [...BY_WIRE, ...BY_FAULTS],
  },
  {
    bug: 'certificates are not checked',
    file: CLIENT,
    find: 'rejectUnauthorized: true',
    replace: 'rejectUnauthorized: false',
    breaks: 'whoever sits in between has the key',
    tests: ['test/gateway/tls.test.ts'],
  },
  {
    bug: 'a live key goes to inner addresses',
    file: CLIENT,
    find: `const isGuarded = key.mode === 'live' && !isLoopback(baseUrl);`,
    replace: 'const isGuarded = false;',
    breaks: 'a bent name leads the key to the metadata service',
    tests: ['test/gateway/connecting.test.ts', 'test/faults/configuration.test.ts'],
  },
  {
    bug: 'the key stands in an error',
    file: CLIENT,
    find: 'return new ClientError(`no answer from the service: ${codeOf(error)}`, isSent, error);',
    replace: 'return new ClientError(`no answer to ${key.reveal()}: ${codeOf(error)}`, isSent, error);',
    breaks: 'the key is in the logs and in the rows',
    tests: ['test/gateway/key-in-errors.test.ts'],
  },
  {
    bug: 'an echo of the key is kept',
    file: CLIENT,
    find: 'body: withoutKey(received), received',
    replace: 'body: received, received',
    breaks: 'the key is in the evidence',
    tests: ['test/gateway/key-echo.test.ts'],
  },
  {
    bug: 'Retry-After is ignored',
    file: 'src/gateway/pauses.ts',
    find: 'pauseFor(pause, asked.sec * 1_000);',
    replace: '',
    breaks: 'the service locks us out',
    tests: ['test/gateway/pauses.test.ts'],
  },
  {
    bug: 'Retry-After may ask for ever',
    file: 'src/gateway/retry-after.ts',
    find: 'sec: Math.min(seconds, MAX_SEC)',
    replace: 'sec: seconds',
    breaks: 'one header silences the shop for years',
    tests: ['test/gateway/pauses.test.ts', 'test/gateway/verify.test.ts', 'test/faults/waiting.test.ts'],
  },
  {
    bug: 'the breaker never opens',
    file: 'src/gateway/breaker.ts',
    find: 'if (counts === recent && counts.areBad()) open();',
    replace: '',
    breaks: 'a service that fails gets everything at once when it comes back',
    tests: ['test/gateway/breaker.test.ts'],
  },
  {
    bug: 'a refused key fails the order',
    file: 'src/gateway/initialize.ts',
    find: 'return refused(KEY_REFUSED);',
    replace: `return refused('http-401');`,
    breaks: 'orders fail for our own mistake',
    tests: ['test/gateway/initialize.test.ts', 'test/faults/initialize.test.ts'],
  },
  {
    bug: 'HTTP 500 to initialize is a refusal',
    file: 'src/gateway/initialize.ts',
    find: 'const REFUSALS = new Set([400,',
    replace: 'const REFUSALS = new Set([500, 502, 503, 400,',
    breaks: 'a checkout that was opened is not watched',
    tests: ['test/gateway/initialize.test.ts', 'test/faults/initialize.test.ts'],
  },
  {
    bug: 'a reset after the request counts as not sent',
    file: 'src/gateway/client.ts',
    find: 'const isSent = !hasFailedToConnect(error) && codeOf(error) !== POOL_IS_CLOSED;',
    replace: 'const isSent = false;',
    breaks: 'the same reference goes out twice',
    tests: [...BY_WIRE, ...BY_FAULTS],
  },
  {
    bug: 'any address is a checkout address',
    file: 'src/gateway/checkout-url.ts',
    find: 'return listed && (isPublic || onThisMachine) ? url.href : null;',
    replace: 'return url.href;',
    breaks: 'shoppers are sent to javascript: and to strangers',
    tests: ['test/gateway/checkout-url.test.ts'],
  },
  {
    bug: 'whatever calls out tells of its trace',
    file: 'src/platform/tracing/sdk.ts',
    find: 'const current = (): Span | undefined => trace.getSpan(contexts.active());',
    replace:
      "const current = () => trace.getSpan(contexts.active()); process.getBuiltinModule('diagnostics_channel').subscribe('undici:request:create', ({ request }) => current() && !String(request.headers).includes('traceparent') && request.addHeader('traceparent', traceparentOf(current().spanContext()).traceparent));",
    breaks: 'the service learns which purchases belong together, and what a caller put into its header',
    tests: ['test/operations/tracing/purchase.test.ts'],
  },
  {
    bug: 'the stand-in gives pages of any length',
    file: 'src/sandbox/profiles/shapes/paging.ts',
    find: 'return Math.min(asked, maxSize);',
    replace: 'return asked;',
    breaks: 'a reader that never turns a page looks right until it meets the real service',
    tests: ['test/sandbox/interface.test.ts'],
  },
];
