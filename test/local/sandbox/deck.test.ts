import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../../src/config.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { DECK, type FaultName } from '../../../local/sandbox/faults/deck.ts';
import { rehearsalsPage } from '../../../tools/scenarios/page.ts';
import { playCards, type Rehearsal } from '../../../tools/scenarios/run-scenarios.ts';
import { localServices } from '../../../local/backing-services.ts';
import { startServer, type StartedServer } from '../../../src/bootstrap/start-server.ts';
import { cloneDatabase } from '../../support/database.ts';
import { IS_WHOLE } from '../../support/extent.ts';
import { checkInvariants } from '../../support/invariants.ts';
import { newFolder, cleanUp } from './support.ts';
import { writeFile } from 'node:fs/promises';

// The whole deck against one server, as `npm run scenario -- --all` plays it.

/** One of each family and of each way to end. */
const ONE_OF_EACH: readonly FaultName[] = [
  'pay-exact',
  'pay-less',
  'pay-then-reversed',
  'webhook-forged',
  'answer-cut',
  'error-after-acting',
  'key-refused',
  'missing-amount',
  'history-truncated',
];
const CARDS = IS_WHOLE ? DECK : DECK.filter(({ name }) => ONE_OF_EACH.includes(name));

let server: StartedServer;
let rehearsals: Rehearsal[];
let drop: () => Promise<unknown>;

beforeAll(async () => {
  const database = await cloneDatabase();
  drop = database.drop;
  const dataDir = await newFolder();
  const dialect = join(dataDir, 'dialect.json');
  await writeFile(dialect, JSON.stringify({ history: { paging: { size: 2 } } }));
  const env = { DATABASE_URL: database.url, GATEWAY_DIALECT: dialect, PORT: '0' };
  const config = loadConfig({ ...env, RECONCILE_EVERY_MIN: '0', CHECKOUTS_PER_MINUTE: '0' });
  server = await startServer({
    config,
    prepare: localServices(dataDir),
    purpose: 'this test',
    logger: createLogger('silent'),
  });
  rehearsals = await playCards(server, CARDS);
}, 400_000);

afterAll(async () => {
  await server.stop();
  await drop();
  await cleanUp();
});

describe('the deck of faults', () => {
  test.each(CARDS.map(({ name }) => name))('%s ends as it should', (name) => {
    const played = rehearsals.find(({ card }) => card.name === name);
    expect(played).toMatchObject({ isRight: true });
  });

  test('leaves no promise broken behind it', async () => {
    const { program, services } = server;
    const sandboxUrl = services.sandboxUrl ?? '';
    const violations = await checkInvariants({ database: program.database, sandboxUrl });
    expect(violations).toEqual([]);
  });

  test('is told in docs/rehearsals.md as it is (npm run scenario -- --page prints it)', async () => {
    const page = await readFile(new URL('../../../docs/rehearsals.md', import.meta.url), 'utf8');
    // The formatter breaks its lines.
    const words = (text: string): string[] => text.split(/\s+/);
    expect(words(page)).toEqual(words(rehearsalsPage(DECK)));
  });
});
