import type { Need } from './finding.ts';

/** Whoever sits before the terminal, or nobody. */
export type Person = {
  /** Shows where to pay. @returns whether they said that they have paid; false at once when nobody is there */
  pays(checkout: { address: string | null; amount: string }, signal: AbortSignal): Promise<boolean>;
  /**
   * Null: they do not know, or nobody is there.
   * @param fault why the answer before this one could not be taken
   */
  tells(need: Need, fault: string | null): Promise<string | null>;
  /** One line about what goes on, over the one before. */
  sees(progress: string): void;
};
