import type { Receiver } from '../fulfilment/release.ts';
import { ownReceiver } from './fulfilment.ts';
import type { OwnCatalogue } from '../orders/catalogue.ts';
import { ownCatalogue } from './catalogue.ts';
import type { OwnAlarm } from '../cases/alert.ts';
import { ownAlarm } from './alerts.ts';

/** What a shop puts in place of what the program comes with; null: as it came. */
export type OwnParts = {
  catalogue: OwnCatalogue | null;
  receiver: Receiver | null;
  alarm: OwnAlarm | null;
};

/**
 * The parts of this shop. The server, the worker and the commands run with them; the demo, the rehearsals and the tests
 * run without, so they go on trying the program whatever is sold here, and nobody is told of what they do.
 */
export const OWN: OwnParts = { catalogue: ownCatalogue, receiver: ownReceiver, alarm: ownAlarm };
