/** `noted`: there is no key for it, and people want to know. */
export type Verdict = 'agrees' | 'differs' | 'cannot tell' | 'noted';

/** One thing that the probe looked at. */
export type Finding = {
  /** A key of the dialect (`verify.amount`), or what else it is about. */
  about: string;
  verdict: Verdict;
  /** What the service showed. */
  seen: string;
  /** What the dialect in force says of it; empty where it has no word. */
  inForce: string;
  /** The value that the key should have, where it is known; undefined: it stays. */
  change?: unknown;
};

/** What only a person can say. Without an answer the dialect in force stays. */
export type Need = { key: string; question: string; choices?: readonly string[] };

/** A person's answers, by the key of the need. */
export type Words = Readonly<Record<string, string>>;

export type Conclusion = { findings: Finding[]; needs: Need[] };

export function finding(about: string, verdict: Verdict, seen: string, inForce?: unknown): Finding {
  return { about, verdict, seen, inForce: inForce === undefined ? '' : JSON.stringify(inForce) };
}

export function quoted(list: readonly string[]): string {
  return list.map((text) => JSON.stringify(text)).join(', ');
}
