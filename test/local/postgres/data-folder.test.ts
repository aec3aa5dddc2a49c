import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from '@jest/globals';
import {
  claimDataFolder,
  DataFolderBusyError,
  readDataFolderOwner,
} from '../../../local/postgres/data-folder.ts';
import { systemIdentity } from '../../../local/postgres/process-identity.ts';
import { IS_WHOLE } from '../../support/extent.ts';
import { argumentsOfCode } from '../../support/process.ts';

const SLOW = 300_000;
/** Root may write everywhere, so it tries as somebody else; an ordinary user tries as itself. */
const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function tempFolder(): string {
  const dir = fs.mkdtempSync(join(tmpdir(), 'data-folder-'));
  cleanups.push(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** Another process in which `claimDataFolder` is at hand. */
function elsewhere(code: string, account?: { uid: number; gid: number }): ChildProcess {
  // The account is taken on after loading: it may not be able to enter the folder of root's checkout.
  const become = account ? `process.setgid(${account.gid}); process.setuid(${account.uid});` : '';
  const script = `import { claimDataFolder } from './local/postgres/data-folder.ts';\nimport * as fs from 'node:fs';\n${become}\n${code}`;
  const { args, cwd } = argumentsOfCode(script);
  const child = spawn(process.execPath, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  cleanups.push(() => child.kill('SIGKILL'));
  return child;
}

async function lines(child: ChildProcess): Promise<string[]> {
  const said: string[] = [];
  if (child.stdout) for await (const line of createInterface(child.stdout)) said.push(line);
  return said;
}

function writeOwner(dir: string, file: Record<string, unknown>): string {
  const path = join(dir, 'owner-7.json');
  fs.writeFileSync(path, JSON.stringify({ purpose: 'npm start', system: systemIdentity(), ...file }));
  return path;
}

test('the folder is made for its owner alone', async () => {
  const dir = join(tempFolder(), 'a', 'b');
  const lock = await claimDataFolder(dir, { purpose: 'npm start' });
  expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
  lock.release();
});

test('the second claim is refused, by name and pid, until the first is released', async () => {
  const dir = tempFolder();
  const first = await claimDataFolder(dir, { purpose: 'npm start' });
  const refusal = await claimDataFolder(dir, { purpose: 'npm run reconcile' }).catch(
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(DataFolderBusyError);
  expect(String(refusal)).toContain(
    `${dir} is in use by "npm start" (pid ${process.pid}): stop it, or set DATABASE_URL`,
  );
  first.release();
  first.release();
  const second = await claimDataFolder(dir, { purpose: 'npm run reconcile' });
  second.release();
});

test('the owner can be read, with the address it has announced', async () => {
  const dir = tempFolder();
  expect(readDataFolderOwner(join(dir, 'missing'))).toBeUndefined();
  expect(readDataFolderOwner(dir)).toBeUndefined();
  const lock = await claimDataFolder(dir, { purpose: 'npm start' });
  expect(readDataFolderOwner(dir)).toEqual({ pid: process.pid, purpose: 'npm start', isHere: true });
  lock.announce('127.0.0.1:5432');
  expect(readDataFolderOwner(dir)?.address).toBe('127.0.0.1:5432');
  lock.release();
  expect(readDataFolderOwner(dir)).toBeUndefined();
});

test(
  'a killed owner leaves the folder free',
  async () => {
    const dir = tempFolder();
    const code = `await claimDataFolder(${JSON.stringify(dir)}, { purpose: 'npm start' }); console.log('claimed');`;
    const owner = elsewhere(`${code} setInterval(() => undefined, 1000);`);
    if (owner.stdout) await once(owner.stdout, 'data');
    expect(readDataFolderOwner(dir)).toMatchObject({ pid: owner.pid });
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(readDataFolderOwner(dir)).toBeUndefined();
    (await claimDataFolder(dir, { purpose: 'npm start' })).release();
  },
  SLOW,
);

test('a pid that was given to another process since does not hold the folder', async () => {
  const dir = tempFolder();
  writeOwner(dir, { pid: process.pid, startTime: '1' });
  expect(readDataFolderOwner(dir)).toBeUndefined();
  (await claimDataFolder(dir, { purpose: 'npm start' })).release();
});

test('an owner file that a crash of the machine left empty does not hold the folder', async () => {
  const dir = tempFolder();
  fs.writeFileSync(join(dir, 'owner-3.json'), '');
  (await claimDataFolder(dir, { purpose: 'npm start' })).release();
});

test('an owner in another container holds the folder while its heart beats', async () => {
  const dir = tempFolder();
  const path = writeOwner(dir, { pid: 1, system: 'another container' });
  expect(readDataFolderOwner(dir)).toMatchObject({ pid: 1, isHere: false });
  const heart = setInterval(() => {
    fs.utimesSync(path, new Date(), new Date());
  }, 500);
  cleanups.push(() => {
    clearInterval(heart);
  });
  await expect(claimDataFolder(dir, { purpose: 'npm start' })).rejects.toThrow(
    '(pid 1 on another machine or in another container)',
  );
});

test('an owner in another container that has been silent for long has lost the folder', async () => {
  const dir = tempFolder();
  const path = writeOwner(dir, { pid: 1, system: 'another container' });
  const longAgo = new Date(Date.now() - 3_600_000);
  fs.utimesSync(path, longAgo, longAgo);
  expect(readDataFolderOwner(dir)).toBeUndefined();
  (await claimDataFolder(dir, { purpose: 'npm start' })).release();
});

test(
  'of many starts at the same instant exactly one gets the folder',
  async () => {
    const base = tempFolder();
    const rounds = Array.from({ length: IS_WHOLE ? 60 : 20 }, (_, round) => join(base, String(round)));
    for (const [round, dir] of rounds.entries()) {
      fs.mkdirSync(dir);
      // Every other folder was left by a killed process: the takeover is where locks go wrong.
      if (round % 2 === 0) writeOwner(dir, { pid: process.pid, startTime: '1' });
    }
    const contenders = Array.from({ length: IS_WHOLE ? 5 : 3 }, () =>
      elsewhere(`
        const rounds = ${JSON.stringify(rounds)};
        console.log('ready');
        const begin = await new Promise((resolve) => process.stdin.once('data', (text) => resolve(Number(text))));
        for (const [round, dir] of rounds.entries()) {
          const instant = begin + round * 30;
          if (Date.now() < instant - 5) await new Promise((resolve) => setTimeout(resolve, instant - 5 - Date.now()));
          while (Date.now() < instant);
          await claimDataFolder(dir, { purpose: 'race' }).then(() => console.log(dir), (error) => {
            if (error.name !== 'DataFolderBusyError') throw error;
          });
        }
        console.log('tried');
        process.stdin.resume();`),
    );
    const said: string[] = [];
    for (const { stdout } of contenders)
      if (stdout) createInterface(stdout).on('line', (line) => said.push(line));
    const haveSaid = async (word: string): Promise<void> => {
      while (said.filter((line) => line === word).length < contenders.length)
        await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await haveSaid('ready');
    const begin = Date.now() + 500;
    for (const contender of contenders) contender.stdin?.write(String(begin));
    // Winners stay until all have tried: a folder whose owner has ended is free again.
    await haveSaid('tried');
    for (const contender of contenders) contender.stdin?.end();
    const winners = said.filter((line) => line.startsWith(base)).sort();
    expect(winners).toEqual([...rounds].sort());
  },
  SLOW,
);

test(
  'under constant claiming and releasing two never hold the folder together',
  async () => {
    const dir = tempFolder();
    const worker = `
      const dir = ${JSON.stringify(dir)};
      let held = 0;
      for (const end = Date.now() + ${IS_WHOLE ? 3_000 : 300}; Date.now() < end || held < 20; ) {
        const lock = await claimDataFolder(dir, { purpose: 'churn' }).catch(() => undefined);
        if (!lock) continue;
        held++;
        try {
          fs.closeSync(fs.openSync(dir + '/inside', 'wx'));
          if (held % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
          fs.unlinkSync(dir + '/inside');
        } catch (error) {
          console.log('broken ' + error.message);
        }
        lock.release();
      }
      console.log('held ' + held);`;
    const said = (
      await Promise.all(Array.from({ length: IS_WHOLE ? 4 : 3 }, () => lines(elsewhere(worker))))
    ).flat();
    expect(said.filter((line) => line.startsWith('broken'))).toEqual([]);
    const holds = said.map((line) => Number(line.split(' ')[1]));
    expect(holds.reduce((sum, held) => sum + held)).toBeGreaterThan(50);
    expect(fs.readdirSync(dir).filter((name) => name.endsWith('.json'))).toHaveLength(1);
  },
  SLOW,
);

test(
  'a folder that may not be written is named',
  async () => {
    const dir = tempFolder();
    fs.chmodSync(dir, 0o555);
    const code = `await claimDataFolder(${JSON.stringify(dir)}, { purpose: 'npm start' }).catch((error) => console.log(error.message));`;
    const said = await lines(elsewhere(code, stranger));
    expect(said[0]).toContain(`cannot keep a database in ${dir}: this user may not write there`);
  },
  SLOW,
);
