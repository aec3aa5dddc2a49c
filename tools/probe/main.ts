import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../src/config.ts';
import { ProbeError } from './observe.ts';
import { probe, type Probed } from './probe.ts';
import { exitCodeOf, reportOf } from './report.ts';
import { createSamples, DIALECT, findingsBefore, saveRun } from './samples.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { HELP, readFlags, type ProbeFlags } from './flags.ts';
import { personAtTerminal } from './terminal.ts';
import { surroundingsOf } from './setup.ts';
import { DATA_DIR } from '../../local/backing-services.ts';
import { visible, wrapped } from '../../src/platform/terminal.ts';
import { runProcess } from '../../src/bootstrap/run-process.ts';

/** `npm run probe`: finds out what the service really answers, and writes the dialect that reads it. */

/** The exit code of a command that was called wrongly (EX_USAGE of sysexits.h). */
const EXIT_USAGE = 64;
const EXIT_NOT_COMPLETED = 2;
/** Milliseconds between calls: four a second tire nobody. */
const PAUSE_MS = 250;
const HOOK_MS = 10_000;
const LAG_MS = 15_000;

const flags = readFlags(process.argv.slice(2));
if (flags === 'help') process.stdout.write(HELP);
else if (Array.isArray(flags)) {
  process.stderr.write(`${flags.join('\n')}\n\n${HELP}`);
  process.exitCode = EXIT_USAGE;
} else await runProcess((config) => run(config, flags), EXIT_NOT_COMPLETED);

async function run(
  config: Config,
  { profile, out, money, email, waitMs, maxCalls, payments }: ProbeFlags,
): Promise<number> {
  const surroundings = await surroundingsOf(config, profile, DATA_DIR);
  const { url, key, secrets, listener } = surroundings;
  const person = personAtTerminal(process.stdin, process.stderr);
  const clock = systemClock;
  const folder = out ?? join(DATA_DIR, 'probe', clock.now().toISOString().replace(/[:.]/g, '-'));
  const keep = createSamples(folder, [key, ...secrets]);
  // Answers are kept as they come, so there is nothing to finish.
  const stop = (): never => {
    process.stderr.write(`\nStopped, nothing was concluded.\n${samplesIn(folder)}`);
    process.exit(EXIT_NOT_COMPLETED);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const probed = await probe({
      keep,
      url,
      key,
      secrets,
      listener,
      person,
      clock,
      dialect: config.dialect,
      given: config.dialectFile?.given ?? {},
      email,
      money,
      origin: config.PUBLIC_URL?.origin ?? `http://localhost:${config.PORT}`,
      waitMs,
      maxCalls,
      payments,
      hookMs: HOOK_MS,
      lagMs: LAG_MS,
      pauseMs: url.hostname === '127.0.0.1' ? 0 : PAUSE_MS,
    });
    const before = findingsBefore(folder);
    saveRun(folder, probed, [key, ...secrets]);
    process.stdout.write(`\n${reportOf(probed, before)}\n${samplesIn(folder)}`);
    if (probed.draft !== null) process.stdout.write(draftLine(probed, join(folder, DIALECT)));
    return exitCodeOf(probed);
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    process.stderr.write(`${wrapped(visible(error.message), 2)}\n${samplesIn(folder)}`);
    return EXIT_NOT_COMPLETED;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    person.close();
    await surroundings.close();
  }
}

function draftLine({ findings }: Probed, file: string): string {
  const isRead = findings.every(
    ({ about, verdict }) => !about.startsWith('read back') || verdict !== 'differs',
  );
  const what = isRead ? 'A dialect that reads this service' : 'A dialect that does not read all of it yet';
  return `${what}:\n  GATEWAY_DIALECT=${file}\n`;
}

function samplesIn(folder: string): string {
  return existsSync(folder) ? `Samples, without keys and e-mail addresses: ${folder}\n` : '';
}
