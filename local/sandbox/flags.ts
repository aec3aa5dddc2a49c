import { parseArgs } from 'node:util';
import { wrapped } from '../../src/platform/terminal.ts';

import { DEFAULT_PROFILE, isProfileName, PROFILE_NAMES, PROFILES, type ProfileName } from './profiles/all.ts';

export const HELP = `The stand-in for the payment service, alone.

Usage
  npm run sandbox -- [options]

Options
  --host <address>      where to listen (127.0.0.1)
  --port <number>       0 takes any free one (4010)
  --profile <name>      the kind of service it plays (${DEFAULT_PROFILE})
  --webhook-url <url>   who is told of payments; nobody without it
  --data <folder>       where the ledger is kept (.data/sandbox), or "none"
  --latency <ms>        how long each answer waits (0)

Profiles
${Object.entries(PROFILES)
  .map(([name, { kind }]) => wrapped(`  ${name.padEnd(20)}${kind}`, 22))
  .join('\n')}

Exit codes
  0 after a signal, 1 it cannot start, 64 called wrongly

Example
  npm run sandbox -- --port 4010 --profile wallets
`;

export type Flags = {
  host: string;
  port: number;
  profile: ProfileName;
  webhookUrl: string | null;
  /** Null: nothing is kept. */
  data: string | null;
  latencyMs: number;
};

const OPTIONS = {
  help: { type: 'boolean', default: false },
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '4010' },
  profile: { type: 'string', default: DEFAULT_PROFILE },
  'webhook-url': { type: 'string', default: '' },
  data: { type: 'string', default: '.data/sandbox' },
  latency: { type: 'string', default: '0' },
} as const;

/** @returns the flags, or every fault in them at once, or that somebody wants help */
export function readFlags(args: string[]): Flags | string[] | 'help' {
  const given = parse(args);
  if (typeof given === 'string') return [given];
  const { help, host, data, profile } = given;
  if (help) return 'help';
  const port = wholeNumber(given.port, 65_535);
  const latencyMs = wholeNumber(given.latency, 600_000);
  const webhookUrl = given['webhook-url'];
  const isAddress = webhookUrl === '' || (URL.canParse(webhookUrl) && /^https?:/.test(webhookUrl));
  const faults = [
    ...(port === null ? ['--port: must be a whole number from 0 to 65535'] : []),
    ...(latencyMs === null ? ['--latency: must be whole milliseconds, at most 600000'] : []),
    ...(isAddress ? [] : ['--webhook-url: must be an http or https address']),
    ...(isProfileName(profile)
      ? []
      : [`--profile: there is no "${profile}"; there are ${PROFILE_NAMES.join(', ')}`]),
  ];
  if (port === null || latencyMs === null || !isProfileName(profile) || faults.length > 0) return faults;
  return {
    host,
    port,
    profile,
    latencyMs,
    webhookUrl: webhookUrl === '' ? null : webhookUrl,
    data: data === 'none' ? null : data,
  };
}

type Given = Record<Exclude<keyof typeof OPTIONS, 'help'>, string> & { help: boolean };

function parse(args: string[]): Given | string {
  try {
    return parseArgs({ args, options: OPTIONS, strict: true }).values;
  } catch (error) {
    return (error as Error).message.split('. ')[0] ?? 'an option is wrong';
  }
}

function wholeNumber(text: string, most: number): number | null {
  return /^\d{1,6}$/.test(text) && Number(text) <= most ? Number(text) : null;
}
