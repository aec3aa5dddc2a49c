import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { audit, printTable, startLoad, totals } from './load.ts';
import {
  freePort,
  needProgram,
  productionEnv,
  startServer,
  startService,
  until,
  type Part,
  type Stage,
} from './stage.ts';

const SERVERS = 3;
const WORKERS = 2;
const SHOPPERS = 6;
const PROXY = fileURLToPath(new URL('../../deploy/nginx/proxy.conf', import.meta.url));

/**
 * Three servers and two workers on one PostgreSQL behind nginx; each is restarted while shoppers buy.
 * @param announced whether nginx is told before a node is; otherwise it finds out by connections that are refused
 */
export async function rolling(stage: Stage, announced: boolean): Promise<boolean> {
  const nginx = needProgram('nginx', 'nginx-light');
  const database = await startEmbeddedPostgres({
    dataDir: join(stage.folder, 'data'),
    logger: createLogger('warn'),
    purpose: 'npm run nodes',
  });
  stage.later(database.stop);
  const front = await freePort();
  const url = `http://127.0.0.1:${front}`;
  const serviceUrl = await startService(stage, `${url}/webhooks/payments`);
  const env = productionEnv(database.url, serviceUrl);
  const ports = await Promise.all(Array.from({ length: SERVERS }, freePort));
  const servers = new Map<number, Part>();
  for (const port of ports) servers.set(port, await startServer(stage, env, port));
  const workers = Array.from({ length: WORKERS }, (_, n) => stage.node(`worker-${n}`, 'worker.js', env));

  const conf = join(stage.folder, 'nginx.conf');
  writeFileSync(conf, nginxConf(stage.folder, front, ports, null));
  const proxy = stage.start('nginx', nginx, ['-p', stage.folder, '-c', conf]);
  await until('nginx answers', async () => (await fetch(`${url}/readyz`)).ok);
  const without = async (port: number | null): Promise<void> => {
    if (!announced) return;
    writeFileSync(conf, nginxConf(stage.folder, front, ports, port));
    proxy.child.kill('SIGHUP');
    await pause(1_000);
  };

  const load = startLoad({ url, serviceUrl, shoppers: SHOPPERS, pauseMs: 20 });
  const startedMs = performance.now();
  await pause(2_000);
  const stopsMs: number[] = [];
  for (const port of ports) {
    const node = servers.get(port);
    if (node === undefined) continue;
    await without(port);
    const before = performance.now();
    const code = await stage.end(node);
    if (code !== 0) throw new Error(`${node.name} ended with ${code}`);
    stopsMs.push(performance.now() - before);
    await startServer(stage, env, port);
    await without(null);
  }
  for (const [n, worker] of workers.entries()) {
    await stage.end(worker);
    stage.node(`worker-${n}`, 'worker.js', env);
  }
  await pause(2_000);
  await load.stop();
  const seconds = (performance.now() - startedMs) / 1_000;

  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  stage.later(() => pool.end());
  let books = await audit(load, (sql) => pool.query(sql), serviceUrl);
  await until('everything paid is confirmed', async () => {
    books = await audit(load, (sql) => pool.query(sql), serviceUrl);
    return books.unpaid === 0;
  }).catch(() => undefined);
  const { sent, failed } = totals(load);
  printTable(
    `Rolling restart of ${SERVERS} servers and ${WORKERS} workers, ${announced ? 'each taken out of nginx first' : 'nginx not told'}`,
    {
      'requests sent': sent,
      'requests failed': failed,
      'requests per second': Math.round(sent / seconds),
      'orders made': load.orders.size,
      'orders lost': books.ordersLost,
      'seen paid': load.paid.size,
      'payments lost': books.paymentsLost,
      'paid at the service and not here': books.unpaid,
      'orders with a wrong number of releases': books.releasesTooMany,
      'longest stop of a server, s': (Math.max(...stopsMs) / 1_000).toFixed(1),
      ...Object.fromEntries(load.failures.map((words, n) => [`failure ${n + 1}`, words])),
    },
  );
  const harm = books.ordersLost + books.paymentsLost + books.unpaid + books.releasesTooMany;
  return harm === 0 && (failed === 0 || !announced);
}

function nginxConf(folder: string, front: number, ports: readonly number[], without: number | null): string {
  const nodes = ports.map(
    (port) => `server 127.0.0.1:${port} max_fails=2 fail_timeout=2s${port === without ? ' down' : ''};`,
  );
  return `
daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx-error.log; worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream integrator { ${nodes.join(' ')} }
  server {
    listen 127.0.0.1:${front};
    location / { include ${PROXY}; proxy_pass http://integrator; }
  }
}
`;
}
