import { parseArgs } from 'node:util';
import { wrapped } from '../../src/platform/terminal.ts';
import { usageText } from '../../src/platform/usage.ts';
import { minorDigits, parseMajor, type Money } from '../../src/platform/money.ts';
import { isProfileName, PROFILE_NAMES, type ProfileName } from '../../local/sandbox/profiles/all.ts';

export type ProbeFlags = {
  money: Money;
  email: string;
  /** Null: nobody pays. */
  waitMs: number | null;
  /** For the history: until the payments are seen and read back. */
  maxCalls: number;
  /** How many are opened. */
  payments: number;
  /** Null: a folder named after the time. */
  out: string | null;
  /** Starts a sandbox of its own that plays this service; null: the service of the configuration. */
  profile: ProfileName | null;
};

export const HELP = usageText('npm run probe', {
  does: wrapped(
    'Finds out with your test key what the service really answers: opens small payments, asks you to ' +
      'pay the first, prints what it found beside the dialect in force, and writes a dialect file.',
    0,
  ),
  forms: ['[options]'],
  options: {
    '--amount': 'of the first payment, with decimals, which tell the unit (101.37)',
    '--currency': 'of the payments (NGN)',
    '--email': 'of the shopper (probe@example.com)',
    '--no-pay': 'asks for no payment; what paid looks like stays unknown',
    '--wait': 'seconds for you to pay (300)',
    '--calls': 'at most, to find your payments in the list and read it back (200)',
    '--payments': 'to open, 3 to 200: so many show pages where three are too few (3)',
    '--out': 'folder of samples and dialect.json (.data/probe/<time>)',
    '--profile': `probes a sandbox of its own:\n    ${wrapped(PROFILE_NAMES.join(', '), 4, 76)}`,
  },
  exits: '0 the dialect agrees, 1 it differs (dialect.json was written), 2 not completed',
  example: '--currency KWD --amount 1.005',
});

/** @returns the flags, or every fault of the command line; `help` */
export function readFlags(args: readonly string[]): ProbeFlags | string[] | 'help' {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        amount: { type: 'string', default: '101.37' },
        currency: { type: 'string', default: 'NGN' },
        email: { type: 'string', default: 'probe@example.com' },
        'no-pay': { type: 'boolean', default: false },
        wait: { type: 'string', default: '300' },
        calls: { type: 'string', default: '200' },
        payments: { type: 'string', default: '3' },
        out: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return 'help';
    const { amount, email, wait, calls, payments, out = null, profile } = values;
    const currency = values.currency.toUpperCase();
    const digits = minorDigits(currency);
    // The default amount has decimals, and some currencies have none.
    const minor = parseMajor(digits === 0 ? amount.replace(/\..*/, '') : amount, currency);
    const faults = [
      ...(digits === null ? ['--currency must be an ISO 4217 code like NGN'] : []),
      ...(digits !== null && (minor === null || minor <= 0n)
        ? ['--amount must be an amount like 101.37']
        : []),
      ...(/^\d{1,5}$/.test(wait) ? [] : ['--wait must be a number of seconds']),
      ...(/^[1-9]\d{0,4}$/.test(calls) ? [] : ['--calls must be a number of calls']),
      ...(/^\d{1,3}$/.test(payments) && Number(payments) >= 3 && Number(payments) <= 200
        ? []
        : ['--payments must be a number from 3 to 200']),
      ...(/^[^@\s]+@[^@\s]+$/.test(email) ? [] : ['--email must be an e-mail address']),
      ...(profile === undefined || isProfileName(profile)
        ? []
        : [`--profile must be one of ${PROFILE_NAMES.join(', ')}`]),
    ];
    if (faults.length > 0 || minor === null) return faults;
    return {
      money: { amount: minor, currency },
      email,
      maxCalls: Number(calls),
      payments: Number(payments),
      waitMs: values['no-pay'] ? null : Number(wait) * 1_000,
      out,
      profile: profile !== undefined && isProfileName(profile) ? profile : null,
    };
  } catch (error) {
    return [(error as Error).message.split('. ')[0] ?? 'an option is wrong'];
  }
}
