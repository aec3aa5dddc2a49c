import type { IncomingMessage, RequestListener } from 'node:http';
import { buildApp } from '../app.ts';
import type { BackingServices, PrepareBackingServices } from '../config/backing-services.ts';
import { compose } from '../compose.ts';
import type { Program } from '../program.ts';
import type { Config } from '../config.ts';
import { EXTENSIONS } from '../custom/index.ts';
import type { Extensions } from '../extensions.ts';
import { sleep, systemClock } from '../platform/clock.ts';
import { createExpressMessages, listen } from '../platform/http-server.ts';
import { problemText } from '../platform/problem.ts';
import type { ProblemType } from '../platform/problem-types.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { logOn } from '../platform/terminal.ts';
import { isAnswered, usageText } from '../platform/usage.ts';
import { openTracing } from './open-program.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import { runProcess, terminationSignal } from './run-process.ts';
import { startWorker, warnOf } from './start-worker.ts';

export type StartedServer = {
  /** How browsers on this machine reach it. */
  origin: string;
  program: Program;
  services: BackingServices;
  /** What a person who has just typed `npm start` wants to know. */
  greeting: string;
  /** Tells load balancers, takes no more requests, finishes those in flight, and ends all it started. */
  stop(): Promise<void>;
};

type ServerOptions = {
  config: Config;
  prepare: PrepareBackingServices;
  /** The command that runs, for messages. */
  purpose: string;
  logger?: Logger;
  /** What the shop has put in place of ours. Left out: nothing. */
  extensions?: Extensions;
};

/**
 * How long `/readyz` says "stopping" before the listener closes, in production: a load balancer that
 * asks every second has seen it twice by then. Connections that wait to be accepted when a listener
 * closes are reset, whatever they carry.
 */
const NOTICE_MS = 3_000;

/**
 * How long after the signal requests in flight may take, the notice included. A checkout takes as long
 * as the service takes to open it; if it were cut off, its payment would be in doubt. One second later
 * the process ends (STOP_WITHIN_MS).
 */
const ANSWERED_WITHIN_MS = 9_000;

/**
 * Starts the server and whatever the configuration leaves to it.
 * @throws errors that {@link runProcess} explains
 */
export async function startServer(options: ServerOptions): Promise<StartedServer> {
  const { config, prepare, purpose } = options;
  const tracing = await openTracing(config.tracing, () => logger);
  const logger = options.logger ?? loggerOf(config, tracing);
  warnOf(config, logger);
  // The port first: when it is taken nothing else needs to be started, or stopped again.
  let handler = refuseAs('starting');
  const messages = createExpressMessages();
  const handle: RequestListener = (req, res) => {
    handler(req, res);
  };
  const http = await listen(handle, config.HOST, config.PORT, messages);
  const origin = config.PUBLIC_URL?.origin ?? `http://localhost:${http.port}`;

  let services: BackingServices | undefined;
  let program: Program | undefined;
  try {
    services = await prepare({ config, purpose, attachIfRunning: false, logger });
    program = await compose({
      config,
      services,
      publicOrigin: () => origin,
      logger,
      tracing,
      ...(options.extensions && { extensions: options.extensions }),
    });
  } catch (error) {
    await services?.close();
    await http.close(0);
    throw error;
  }
  handler = buildApp(program, messages) as RequestListener;
  if (!config.demoShop && program.extensions.identity === null)
    logger.warn("order pages bear the demo shop's name: say who you are in src/custom/identity.ts");
  services.receiveWebhooksAt(`http://${loopbackOf(config.HOST)}:${http.port}/webhooks/payments`);
  const worker = config.WORKER === 'inline' ? startWorker(program) : null;
  const unwatch = program.workerWatch.start();
  const serve = handler;
  const leave = async (): Promise<void> => {
    const sinceMs = systemClock.elapsedMs();
    const stopping = refuseAs('stopping');
    handler = (req, res) => {
      (pathOf(req) === '/readyz' ? stopping : serve)(req, res);
    };
    http.announceEnd();
    // A person at a terminal has no load balancer to wait for.
    if (config.production) await sleep(NOTICE_MS);
    await http.close(ANSWERED_WITHIN_MS - (systemClock.elapsedMs() - sinceMs));
  };
  return {
    origin,
    program,
    services,
    greeting: greeting(config, origin, services),
    stop: async () => {
      unwatch();
      // The worker leases nothing from here on, so other processes take what our last requests make due.
      await Promise.all([leave(), worker?.stop()]);
      await program.close();
      await services.close();
      await tracing?.close();
    },
  };
}

function loggerOf({ LOG_LEVEL, production }: Config, tracing: Tracing | null): Logger {
  return createLogger(LOG_LEVEL, logOn(process.stdout, production), tracing?.logFields);
}

function refuseAs(type: ProblemType): RequestListener {
  return (req, res) => {
    const { status, body } = problemText(type, pathOf(req));
    const headers = {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'retry-after': '2',
    };
    res.writeHead(status, headers).end(body);
  };
}

function pathOf(req: IncomingMessage): string {
  return req.url?.split('?')[0] ?? '/';
}

/** The sandbox runs on this machine, so it calls us here whatever the public address is. */
function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function greeting(config: Config, origin: string, { sandboxUrl, secretKey }: BackingServices): string {
  const lines = [
    config.demoShop ? ['shop', `${origin}/shop`] : ['server', origin],
    ['admin', `${origin}/admin`],
    ...(sandboxUrl === null
      ? []
      : [['sandbox', `${sandboxUrl}   (stands in for the payment service, no real money)`]]),
    ['doctor', 'npm run doctor   (what is configured, reached and missing)'],
  ];
  const table = lines.map(([name = '', text = '']) => `  ${name.padEnd(8)} ${text}`).join('\n');
  return `\nReady, in ${secretKey.mode} mode.\n\n${table}\n\nStop with Ctrl-C.\n\n`;
}

const HELP = usageText('npm start', {
  does: 'Serves the shop and the console, and by default does the background work.',
  forms: [''],
  options: {},
  exits: '0 after Ctrl-C, 1 it could not start, 78 the configuration is wrong',
  example: '',
});

/**
 * The process of `src/server.ts`, from its start to the signal that ends it.
 * @param args what was typed after the command: it takes no options, the environment is its configuration
 */
export async function serve(prepare: PrepareBackingServices, args: readonly string[]): Promise<void> {
  if (isAnswered(HELP, args)) return;
  await runProcess(async (config) => {
    const stopped = terminationSignal();
    const server = await startServer({ config, prepare, purpose: 'npm start', extensions: EXTENSIONS });
    process.stdout.write(server.greeting);
    await stopped;
    await server.stop();
    return 0;
  });
}
