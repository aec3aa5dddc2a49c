import { aggregator } from './aggregator.ts';
import { attempts } from './attempts.ts';
import { brackets } from './brackets.ts';
import { capitals } from './capitals.ts';
import { dateWindow } from './date-window.ts';
import { invoices } from './invoices.ts';
import { lateList, oldestFirst, oldestFirstByCursor, onlySuccess, pagedDays } from './kinds-of-lists.ts';
import { askedAndReceived, feesOnTop, longDecimals, twoReferences, twoShapes } from './kinds-of-records.ts';
import { minorUnits } from './minor-units.ts';
import { paymentLinks } from './payment-links.ts';
import { plain } from './plain.ts';
import type { Profile } from './profile.ts';
import { sessions } from './sessions.ts';
import { valueObjects } from './value-objects.ts';
import { virtualAccounts } from './virtual-accounts.ts';
import { wallets } from './wallets.ts';

/** Every service that the stand-in can be; the first one unless somebody chooses. */
export const PROFILES = {
  plain,
  'minor-units': minorUnits,
  aggregator,
  'virtual-accounts': virtualAccounts,
  'value-objects': valueObjects,
  'payment-links': paymentLinks,
  invoices,
  sessions,
  capitals,
  'date-window': dateWindow,
  wallets,
  brackets,
  attempts,
  'two-references': twoReferences,
  'asked-and-received': askedAndReceived,
  'fees-on-top': feesOnTop,
  'two-shapes': twoShapes,
  'four-decimals': longDecimals,
  'oldest-first': oldestFirst,
  journal: oldestFirstByCursor,
  'late-list': lateList,
  'paged-days': pagedDays,
  'good-news-only': onlySuccess,
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;

export const PROFILE_NAMES = Object.keys(PROFILES) as [ProfileName, ...ProfileName[]];

export const DEFAULT_PROFILE: ProfileName = 'plain';

export function isProfileName(text: string): text is ProfileName {
  return Object.hasOwn(PROFILES, text);
}
