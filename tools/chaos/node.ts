import { startPostgresProxy, type PostgresProxy } from '../../test/support/postgres-proxy.ts';
import { startServiceProxy, type ServiceProxy } from '../../test/support/service-proxy.ts';
import { pause, startChild, type Child } from './child.ts';
import type { NodeName } from './plan.ts';
import type { Tree } from './tree.ts';

/** One process of the shop: kept running as an init system would, with a proxy on each of its sides. */
export type Node = {
  name: NodeName;
  sides: { database: PostgresProxy; service: ServiceProxy; receiver: ServiceProxy };
  isReady(): boolean;
  /** Kills it; it is started again. Resolves once it is dead. */
  kill(): Promise<void>;
  /** Ends it gracefully; it is started again, from these sources from then on if some are given. */
  deploy(tree?: Tree): Promise<void>;
  /** What it runs, or will from its next start. */
  tree(): Tree;
  /** Its wall clock jumps. @throws while it does not run */
  jump(): void;
  /** It stands still, as after a virtual machine was moved, while something else happens. */
  standStill(meanwhile: () => Promise<unknown>): Promise<void>;
  /** Everything it has said, of all its lives. */
  said(): string;
  /** What it did that nobody had asked for. */
  surprises: string[];
  close(): Promise<void>;
};

export type NodeOptions = {
  name: NodeName;
  cwd: string;
  env: Record<string, string>;
  clockMs: number;
  tree: Tree;
  databaseUrl: string;
  serviceUrl: string;
  receiver: { FULFILMENT_URL: string; FULFILMENT_SECRET: string };
};

const READY = { 'node-a': /^Stop with Ctrl-C/m, 'node-b': /^Stop with Ctrl-C/m, worker: /worker is running/ };
type Life = { isReady: boolean; isClosing: boolean; isEndOrdered: boolean; isStill: boolean; said: string };
/** A graceful end takes ten seconds at most, and some for the last answers; more on a busy machine, but not for ever. */
const STOPS_WITHIN_MS = 60_000;

export async function startNode(options: NodeOptions): Promise<Node> {
  const { name, cwd, clockMs, receiver } = options;
  const sides = {
    database: await startPostgresProxy(options.databaseUrl),
    service: await startServiceProxy(options.serviceUrl),
    receiver: await startServiceProxy(receiver.FULFILMENT_URL),
  };
  const env = {
    ...options.env,
    DATABASE_URL: sides.database.url,
    GATEWAY_URL: sides.service.url,
    FULFILMENT_URL: sides.receiver.url,
    FULFILMENT_SECRET: receiver.FULFILMENT_SECRET,
  };
  const surprises: string[] = [];
  const life: Life = { isReady: false, isClosing: false, isEndOrdered: false, isStill: false, said: '' };
  let tree = options.tree;
  let child: Child;

  async function keepRunning(): Promise<void> {
    while (!life.isClosing) {
      child = startChild(name === 'worker' ? 'src/worker.ts' : 'src/server.ts', { cwd, env, clockMs, tree });
      life.isEndOrdered = false;
      life.isReady = (await child.says(READY[name])) !== null;
      // Without its database it does not start, and is started again until it does.
      if (!life.isReady) await child.end('SIGKILL');
      const code = await child.ended;
      noteEnd(life, code);
      life.isReady = false;
      life.said += child.said();
      await pause(100);
    }
  }
  function noteEnd({ isReady: hasRun, isEndOrdered, isClosing }: Life, code: number | null): void {
    if (hasRun && !isEndOrdered && !isClosing) surprises.push(`${name} ended by itself with ${String(code)}`);
  }

  const running = keepRunning();

  return {
    name,
    sides,
    surprises,
    isReady: () => life.isReady,
    said: () => life.said + (child.isRunning() ? child.said() : ''),
    kill: async () => {
      life.isEndOrdered = true;
      await child.end('SIGKILL');
    },
    tree: () => tree,
    jump: () => {
      // Nobody hears the signal yet: it would end the process.
      if (!life.isReady) throw new Error(`${name} does not run`);
      child.signal('SIGUSR2');
    },
    deploy: async (next = tree) => {
      tree = next;
      life.isEndOrdered = true;
      const leaving = child;
      leaving.signal('SIGTERM');
      const hasEnded = await Promise.race([
        leaving.ended.then(() => true),
        pause(STOPS_WITHIN_MS).then(() => false),
      ]);
      if (hasEnded) return;
      if (!life.isStill)
        surprises.push(`${name} did not stop within ${STOPS_WITHIN_MS / 1_000} s of SIGTERM`);
      await leaving.end('SIGKILL');
    },
    standStill: async (meanwhile) => {
      const still = child;
      still.signal('SIGSTOP');
      life.isStill = true;
      try {
        await meanwhile();
      } finally {
        life.isStill = false;
        still.signal('SIGCONT');
      }
    },
    close: async () => {
      life.isClosing = true;
      child.signal('SIGCONT');
      await child.end('SIGKILL');
      await running;
      for (const side of Object.values(sides)) await side.close();
    },
  };
}
