/**
 * What the program assumes about the payment service beyond its reference. src/custom/service.ts
 * exports the adapter that is used; GATEWAY_ADAPTER names another module with the same export.
 *
 * The program itself owns exact money, the outcomes of initialize, the bounds of bodies, deadlines,
 * the key, and the loop over pages. An adapter reads plain JSON, and what it throws is an
 * unreadable answer with that message.
 */
export type ServiceAdapter = {
  /** Left out: { 'x-api-key': key }. */
  authorize?(key: string): Record<string, string>;
  amountUnit: 'major' | 'minor';
  /** Decimals of currencies where the service differs from ISO 4217: { IDR: 0 }. */
  decimals?: Record<string, number>;
  /**
   * After so many minutes a hosted page is not handed out again: the next checkout is a new
   * payment.
   */
  checkoutLifetimeMin: number;
  /** So many days a payment may still be paid after it was opened. */
  payableDays: number;
  /**
   * Where the service wants other references than 26 of [a-z0-9]; at least 96 random bits are
   * required.
   */
  reference?: { length: number; alphabet: string };
  initialize: {
    /**
     * The six fields of the reference as they would be sent, `amount` a number in `amountUnit`;
     * left out: sent as they are.
     */
    body?(fields: InitializeFields): unknown;
    /**
     * The address; or why the service says no inside its answer; null: neither is found, and the
     * outcome is unknown.
     */
    checkoutUrl(answer: unknown): string | { refused: string } | null;
  };
  /**
   * Where the record stands in verify's answer; null: there is none (not found, a failure inside
   * HTTP 200).
   */
  verify: { record(answer: unknown): unknown };
  history: {
    /** Path and query of the first page. A service that cannot filter ignores the window. */
    first(window: Window): string;
    /**
     * Whether `first` filters by `since`: then runs between two whole ones read only what is new.
     */
    filters: boolean;
    /** The rows of a page; null: this is not a page of the history. */
    rows(page: unknown): readonly unknown[] | null;
    /**
     * Path and query of the next page; null: that was the last. `rows`: how many the page had;
     * `number`: 1 for the first.
     */
    next(page: unknown, at: PagePosition): string | null;
    /**
     * A row of another integration on the same account, or of the other mode: set aside and
     * counted, never a case.
     */
    isForeign?(row: unknown): boolean;
    /** The history may lack a payment for so long after it was paid. */
    lagMin: number;
    /** The history reaches back so far; null: to the beginning. */
    reachesBackDays: number | null;
  };
  /** Reads verify's record and a row of the history alike; null: it cannot be read. */
  read(record: unknown): Reading | null;
  webhook: {
    /**
     * From a parsed JSON or form body: the payments it is about. Some services send several events
     * at once.
     */
    references(body: unknown): readonly string[];
    /**
     * What services want to read that take nothing else for an acknowledgement; left out: 202 and
     * JSON.
     */
    acknowledgement?: { status: number; contentType: string; body: string };
    /**
     * null: webhooks are not signed. Header names come in lower case; the program tries every
     * secret.
     */
    signature: null | ((message: SignedMessage) => boolean);
  };
  transfers?: {
    first(): string;
    rows(page: unknown): readonly unknown[] | null;
    next(page: unknown, at: PagePosition): string | null;
    read(row: unknown): TransferReading | null;
  };
  balances?: {
    path: string;
    read(answer: unknown): readonly { currency: string; amount: string | number }[] | null;
  };
};

/**
 * What one record of the service says. Amounts are in the adapter's unit: text, or a JSON number.
 */
export type Reading = {
  reference: string | null;
  status: 'paid' | 'pending' | 'failed' | 'expired' | 'reversed' | 'unknown';
  /** The service's own word, for people. */
  word: string;
  /** Negative: a row of the history that is itself money that went (a refund, a chargeback). */
  amount: string | number | null;
  currency: string | null;
  /**
   * The service's own id: rows of one id are one charge; with different ids, or without ids, they
   * are as many.
   */
  id?: string | null;
  mode?: 'test' | 'live' | null;
  /** How much of it went back; unit of amount. */
  refunded?: string | number | null;
  /** Why this record proves nothing although it says paid; a sentence for people. */
  doubt?: string | null;
};

export type TransferReading = { id: string; amount: string | number; currency: string; at: string | null };

/** The fields of initialize by the service's reference. */
export type InitializeFields = {
  email: string;
  amount: number;
  localCurrency: string;
  amountCurrency: 'local';
  reference: string;
  redirectUrl: string;
};

/** Of the history; null: without that bound. */
export type Window = { since: Date | null; until: Date | null };
export type PagePosition = { path: string; number: number; rows: number };
export type SignedMessage = { headers: Record<string, string>; body: Buffer; secret: string; now: Date };
