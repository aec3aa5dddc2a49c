import type { OrderId, Reference, RunId } from '../../src/platform/ids.ts';

// Ids that a test makes up, or reads out of an answer, where the program itself would have made or checked
// them.

export const asOrderId = (text: string): OrderId => text as OrderId;
export const asReference = (text: string): Reference => text as Reference;
export const asRunId = (text: string): RunId => text as RunId;
