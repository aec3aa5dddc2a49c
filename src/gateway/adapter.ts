/**
 * What the program needs to know about the payment service beyond the service's reference.
 * src/custom/service.ts exports the adapter in use; GATEWAY_ADAPTER names another module with the
 * same export.
 *
 * The program itself handles exact money, the outcomes of initialize, size limits, deadlines, the
 * key, and the loop over pages. An adapter reads plain JSON. If it throws, the answer is
 * unreadable, and the error's message is the reason.
 */
export type ServiceAdapter = {
  /** Default: { 'x-api-key': key }. */
  authorize?(key: string): Record<string, string>;
  amountUnit: 'major' | 'minor';
  /** Decimals of currencies for which the service differs from ISO 4217: { IDR: 0 }. */
  decimals?: Record<string, number>;
  /**
   * For this many minutes, the hosted page of a payment is offered again. After that, a new
   * checkout creates a new payment.
   */
  checkoutLifetimeMin: number;
  /** For this many days after it was opened, a payment may still be paid. */
  payableDays: number;
  /**
   * Needed only if the service does not accept 26 characters of [a-z0-9]. At least 96 random bits
   * are required.
   */
  reference?: { length: number; alphabet: string };
  initialize: {
    /**
     * Builds the request from the six fields of the reference, with `amount` as a number in
     * `amountUnit`. Default: the fields as they are.
     */
    body?(fields: InitializeFields): unknown;
    /**
     * The checkout URL, or the reason if the answer contains a refusal. Null if it contains
     * neither: the outcome is then unknown.
     */
    checkoutUrl(answer: unknown): string | { refused: string } | null;
  };
  /**
   * Returns the record in verify's answer. Null if there is none: not found, or a failure inside
   * HTTP 200.
   */
  verify: { record(answer: unknown): unknown };
  history: {
    /** Path and query of the first page. If the service cannot filter, ignore the window. */
    first(window: Window): string;
    /**
     * Whether `first` filters by `since`. If it does, the runs between two full ones read only new
     * rows.
     */
    filters: boolean;
    /** The rows of a page; null if this is not a page of the history. */
    rows(page: unknown): readonly unknown[] | null;
    /**
     * Path and query of the next page; null after the last one. `rows` is the number of rows on
     * this page; `number` is 1 for the first page.
     */
    next(page: unknown, at: PagePosition): string | null;
    /**
     * Whether a row belongs to another integration on the same account, or to the other mode. Such
     * a row is set aside and counted, and never becomes a case.
     */
    isForeign?(row: unknown): boolean;
    /** For this many minutes after it was paid, a payment may be absent from the history. */
    lagMin: number;
    /** The history goes back this many days; null if it goes back to the beginning. */
    reachesBackDays: number | null;
  };
  /** Reads a record of verify and a row of the history alike. Null if it cannot be read. */
  read(record: unknown): Reading | null;
  webhook: {
    /** The references in a parsed JSON or form body. Some services send several events at once. */
    references(body: unknown): readonly string[];
    /** The acknowledgement, if the service accepts only a certain one. Default: 202 and JSON. */
    acknowledgement?: { status: number; contentType: string; body: string };
    /**
     * Null if webhooks are not signed. Header names are in lower case. The program tries each
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
 * The content of one record of the service. Amounts are in the adapter's unit, as a text or a JSON
 * number.
 */
export type Reading = {
  reference: string | null;
  status: 'paid' | 'pending' | 'failed' | 'expired' | 'reversed' | 'unknown';
  /** The service's own status word, for people. */
  word: string;
  /** Negative if the row of the history is itself an outflow: a refund or a chargeback. */
  amount: string | number | null;
  currency: string | null;
  /**
   * The service's own id of the provider transaction. Rows with the same id are one provider
   * transaction. Rows with different ids, or without ids, are separate ones.
   */
  id?: string | null;
  mode?: 'test' | 'live' | null;
  /** How much of the amount went back, in the unit of amount. */
  refunded?: string | number | null;
  /** Why this record proves nothing although it says paid; a sentence for people. */
  doubt?: string | null;
};

export type TransferReading = { id: string; amount: string | number; currency: string; at: string | null };

/** The fields of initialize, as in the service's reference. */
export type InitializeFields = {
  email: string;
  amount: number;
  localCurrency: string;
  amountCurrency: 'local';
  reference: string;
  redirectUrl: string;
};

/** A period of the history. Null means no bound on that side. */
export type Window = { since: Date | null; until: Date | null };
export type PagePosition = { path: string; number: number; rows: number };
export type SignedMessage = { headers: Record<string, string>; body: Buffer; secret: string; now: Date };
