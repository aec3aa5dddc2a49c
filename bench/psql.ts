import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Agent, request } from 'undici';
import { KEY } from './contestants.ts';
import { PAGE_SIZE } from './list.ts';
import { msOf } from './load.ts';

type Row = Record<string, unknown>;

/**
 * Reads every page with undici and JSON.parse alone. Each page is requested when the previous one
 * was read.
 */
export async function readList(serviceUrl: string, count: number, take: (rows: Row[]) => unknown): Promise<void> {
  const agent = new Agent({ connections: 1 });
  for (let page = 1; (page - 1) * PAGE_SIZE < count; page += 1) {
    const url = `${serviceUrl}/v1/transactions/history?page=${page}`;
    const answer = await request(url, { dispatcher: agent, headers: { 'x-api-key': KEY } });
    await take((JSON.parse(await answer.body.text()) as { data: { data: Row[] } }).data.data);
  }
  await agent.close();
}

/** The same rows in the format of COPY: one line per row, with the texts of its members. */
export async function writeList(serviceUrl: string, count: number, file: string): Promise<void> {
  const out = createWriteStream(file);
  const cell = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  await readList(serviceUrl, count, async (rows) => {
    const lines = rows.map((row) => `${Object.values(row).map(cell).join('\t')}\n`);
    if (!out.write(lines.join(''))) await once(out, 'drain');
  });
  out.end();
  await once(out, 'close');
}

/**
 * The minimum without a program: COPY of the rows, and one full outer join with the books.
 * @returns seconds
 */
export async function psqlsWay(databaseUrl: string, file: string): Promise<{ copy: number; join: number }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`SET work_mem = '64MB'; CREATE TEMPORARY TABLE theirs (id text, reference text, status text,
      amount numeric, currency text, customer text, created_at timestamptz, paid_at timestamptz, mode text)`);
    const copyMs = await msOf(pipeline(createReadStream(file), client.query(copyFrom('COPY theirs FROM STDIN'))));
    const joinMs = await msOf(
      client.query(`SELECT count(*), sum(amount), sum(verify_received - verify_outflow) FROM theirs FULL JOIN ledgers
        USING (reference, currency) WHERE amount * 100 IS DISTINCT FROM verify_received - verify_outflow`),
    );
    return { copy: copyMs / 1_000, join: joinMs / 1_000 };
  } finally {
    await client.end();
  }
}
