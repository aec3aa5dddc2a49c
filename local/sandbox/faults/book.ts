import { newId } from '../../../src/platform/ids.ts';
import type { Place } from '../calls.ts';
import type { AirName } from './deck.ts';

/** A fault in the air. What is null does not limit it. */
export type SetFault = {
  id: string;
  fault: AirName;
  endpoint: Place | null;
  reference: string | null;
  /** How many more calls, or webhooks, it befalls. */
  calls: number | null;
};

/** Which faults lie in the air. In memory only: a restart clears the sky. */
export type FaultBook = {
  set(fault: Omit<SetFault, 'id'>): SetFault;
  all(): readonly SetFault[];
  /** False: there is none of this id. */
  remove(id: string): boolean;
  clear(): void;
  /** The oldest fault of `names` that befalls this, which uses it up by one; null: none. */
  strike<T extends AirName>(
    names: Readonly<Partial<Record<T, unknown>>>,
    endpoint: Place,
    reference: string | null,
  ): T | null;
};

export function createFaultBook(): FaultBook {
  let faults: SetFault[] = [];
  return {
    set(fault) {
      const added = { ...fault, id: newId() };
      faults.push(added);
      return added;
    },
    all: () => faults,
    remove(id) {
      const before = faults.length;
      faults = faults.filter((fault) => fault.id !== id);
      return faults.length < before;
    },
    clear() {
      faults = [];
    },
    strike<T extends AirName>(
      names: Readonly<Partial<Record<T, unknown>>>,
      endpoint: Place,
      reference: string | null,
    ) {
      const struck = faults.find(
        (fault) =>
          Object.hasOwn(names, fault.fault) &&
          (fault.endpoint ?? endpoint) === endpoint &&
          (fault.reference ?? reference) === reference,
      );
      if (struck === undefined) return null;
      if (struck.calls !== null) {
        struck.calls -= 1;
        if (struck.calls === 0) faults = faults.filter((fault) => fault !== struck);
      }
      return struck.fault as T;
    },
  };
}
