import { eventually, aBasket, post, type CheckoutAnswer } from './program.ts';
import { freePort, newFolder, startProcess, type RunningProcess } from './process.ts';

/** A running `npm start`, and hands at its doors and at its service. */
export type ShopProcess = RunningProcess & {
  origin: string;
  port: number;
  /** Address of the service it uses; empty until a test that brings its own sets it. */
  service: string;
  folder: string;
  get(path: string): Promise<Response>;
  post(path: string, body: object): Promise<Response>;
  /** A checkout that must work. */
  checkout(body?: object): Promise<CheckoutAnswer>;
  /** A person's hand at the sandbox. */
  hand(path: string, body?: object): Promise<Response>;
  status(orderId: string): Promise<string>;
  /** Waits until the order has that status. */
  becomes(orderId: string, status: string): Promise<unknown>;
};

export type ShopOptions = { folder?: string; port?: number; service?: string; env?: Record<string, string> };

/** Starts `npm start` in a folder of its own and waits until it says that it is ready. */
export async function startShop(options: ShopOptions = {}): Promise<ShopProcess> {
  const folder = options.folder ?? (await newFolder());
  const port = options.port ?? (await freePort());
  const env = { PORT: String(port), RECONCILE_EVERY_MIN: '0', ...options.env };
  const running = startProcess('server', { cwd: folder, env });
  await running.says(/^Stop with Ctrl-C/m);
  const sandbox = /sandbox +(http:\S+)/.exec(running.stdout())?.[1];
  const origin = `http://127.0.0.1:${port}`;
  const service = options.service ?? sandbox ?? '';
  const get = (path: string): Promise<Response> => fetch(`${origin}${path}`, { redirect: 'manual' });
  const hand = (path: string, body: object = {}): Promise<Response> =>
    post(`${service}/sandbox/${path}`, body);
  const status = async (orderId: string): Promise<string> => {
    const answer = await get(`/orders/${orderId}`);
    return answer.ok ? ((await answer.json()) as { status: string }).status : `http-${answer.status}`;
  };
  return {
    ...running,
    origin,
    port,
    service,
    folder,
    get,
    post: (path, body) => post(`${origin}${path}`, body),
    checkout: async (body = aBasket) => {
      const answer = await post(`${origin}/checkout`, body);
      if (answer.status !== 201) throw new Error(`checkout: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as CheckoutAnswer;
    },
    hand,
    status,
    becomes: (orderId, wanted) => eventually(async () => (await status(orderId)) === wanted),
  };
}
