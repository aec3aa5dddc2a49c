import { ENDPOINTS } from '../calls.ts';
import { ANSWER_FAULTS } from './answers.ts';
import type { Place } from '../calls.ts';
import type { AnswerFault, Deed, HistoryFault, RecordFault, Told, WebhookFault } from './fault.ts';
import { HISTORY_FAULTS } from './histories.ts';
import { LIMIT_FAULTS } from './limits.ts';
import { PAYMENT_FAULTS } from './payments.ts';
import { RECORD_FAULTS } from './records.ts';
import { WEBHOOK_FAULTS } from './webhooks.ts';

/** Deeds are played once on one transaction; all others lie in the air until they are taken back or used up. */
export type DeedName = keyof typeof PAYMENT_FAULTS;
export type WebhookFaultName = keyof typeof WEBHOOK_FAULTS;
export type AnswerFaultName = keyof typeof ANSWER_FAULTS | keyof typeof LIMIT_FAULTS;
export type RecordFaultName = keyof typeof RECORD_FAULTS;
export type HistoryFaultName = keyof typeof HISTORY_FAULTS;
export type AirName = WebhookFaultName | AnswerFaultName | RecordFaultName | HistoryFaultName;
export type FaultName = DeedName | AirName;

export const DEEDS: Record<DeedName, Deed> = PAYMENT_FAULTS;
export const ON_WEBHOOKS: Record<WebhookFaultName, WebhookFault> = WEBHOOK_FAULTS;
export const ON_ANSWERS: Record<AnswerFaultName, AnswerFault> = { ...ANSWER_FAULTS, ...LIMIT_FAULTS };
export const ON_RECORDS: Record<RecordFaultName, RecordFault> = RECORD_FAULTS;
export const ON_HISTORY: Record<HistoryFaultName, HistoryFault> = HISTORY_FAULTS;

export type Card = Told & { name: FaultName; family: string };

/** The whole deck in the order in which it is told: what pages, control routes, rehearsals and their page share. */
export const DECK: readonly Card[] = [
  ...cards('what the shopper does', DEEDS),
  ...cards('what befalls a webhook', ON_WEBHOOKS),
  ...cards('what befalls an answer', ANSWER_FAULTS),
  ...cards('too many calls', LIMIT_FAULTS),
  ...cards('what verify says', ON_RECORDS),
  ...cards('what history lists', ON_HISTORY),
];

export const DEED_NAMES = Object.keys(DEEDS) as [DeedName, ...DeedName[]];
export const AIR_NAMES = Object.keys({
  ...ON_WEBHOOKS,
  ...ON_ANSWERS,
  ...ON_RECORDS,
  ...ON_HISTORY,
}) as [AirName, ...AirName[]];

function cards(family: string, faults: Partial<Record<FaultName, Told>>): Card[] {
  return Object.entries(faults).map(([name, { title, happens, ends }]) => ({
    name: name as FaultName,
    family,
    title,
    happens,
    ends,
  }));
}

/** Where a fault can lie, the usual place first. */
export function placesOf(name: AirName): readonly [Place, ...Place[]] {
  if (name in ON_WEBHOOKS) return ['webhook'];
  if (name in ON_RECORDS) return ['verify'];
  if (name in ON_HISTORY) return ['history'];
  return ENDPOINTS;
}
