import { parseArgs } from 'node:util';
import { minorDigits, parseMajor, type Money } from '../../src/platform/money.ts';
import { isProfileName, PROFILE_NAMES, type ProfileName } from '../../local/sandbox/profiles/all.ts';

export type ProbeFlags = {
  money: Money;
  email: string;
  /** Null: nobody pays. */
  waitMs: number | null;
  /** Null: a folder named after the time. */
  out: string | null;
  /** Starts a sandbox of its own that plays this service; null: the service of the configuration. */
  profile: ProfileName | null;
};

export const HELP = `npm run probe -- [--amount 101.37] [--currency NGN] [--email probe@example.com]
                 [--no-pay] [--wait 300] [--out FOLDER] [--profile NAME]

Opens three small payments with your test key, asks you to pay the first, and asks the service everything else that
its reference leaves open. Prints what it found beside the dialect in force, and writes samples and a dialect file.

--amount    of the first payment; with decimals, because they tell the unit
--no-pay    asks for no payment: what paid looks like cannot be told then
--wait      seconds for you to pay
--out       folder of samples, findings and dialect.json; .data/probe/<time> by default
--profile   probes a sandbox of its own: ${PROFILE_NAMES.join(', ')}

0: the dialect in force agrees, 1: it differs (dialect.json was written), 2: not completed, 64: called wrongly
`;

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
        out: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return 'help';
    const { amount, email, wait, out = null, profile } = values;
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
      ...(/^[^@\s]+@[^@\s]+$/.test(email) ? [] : ['--email must be an e-mail address']),
      ...(profile === undefined || isProfileName(profile)
        ? []
        : [`--profile must be one of ${PROFILE_NAMES.join(', ')}`]),
    ];
    if (faults.length > 0 || minor === null) return faults;
    return {
      money: { amount: minor, currency },
      email,
      waitMs: values['no-pay'] ? null : Number(wait) * 1_000,
      out,
      profile: profile !== undefined && isProfileName(profile) ? profile : null,
    };
  } catch (error) {
    return [(error as Error).message];
  }
}
