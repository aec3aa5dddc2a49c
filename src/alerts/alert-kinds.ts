import type { Alert } from './alert.ts';

type AlertKind = {
  /** The log line. */
  words: string;
  /** What to type, and the heading of the runbook. */
  todo: string;
  /** A state begins, changes and ends. Anything else happens once. */
  isState: boolean;
  /** Each change of its cause is sent, and not only one in an hour. */
  isEachNews?: boolean;
  /** Its reason holds counts or times, which are others at every look: they make no other cause. */
  hasCounts?: boolean;
  /**
   * Seconds without a sign of it before a state counts as over: one process may see it while another, with
   * another key or an order of its own, does not.
   */
  quietSec?: number;
};

/** Longer than the pause between two calls of a shop that sells little. */
const QUIET_SEC = 3_600;

/** What each alert says, and how it is sent; it is raised where `alarm` is called. The names are fixed. */
export const ALERT_KINDS: Readonly<Record<Alert['event'], AlertKind>> = {
  'payment-reversed': {
    words: 'money went back after its order was released',
    todo: 'npm run findings -- list; docs/runbook.md#reversed',
    isState: false,
  },
  // A run has raised new findings; over when none is open.
  'findings-raised': {
    words: 'orders and the service differ',
    todo: 'npm run findings -- list; docs/runbook.md#findings-are-open',
    isState: true,
    isEachNews: true,
  },
  // Without a verdict on everything. Only a run over everything ends what a run over everything began.
  'reconciliation-incomplete': {
    words: 'reconciliation was not completed',
    todo: 'npm run reconcile; docs/runbook.md#reconciliation-is-incomplete',
    isState: true,
    hasCounts: true,
  },
  'reconciliation-failed': {
    words: 'reconciliation failed',
    todo: 'npm run reconcile; docs/runbook.md#reconciliation-is-incomplete',
    isState: true,
    hasCounts: true,
  },
  'reconciliation-skipped': {
    words: 'reconciliation is skipped again and again',
    todo: 'npm run reconcile; docs/runbook.md#reconciliation-is-late',
    isState: true,
    hasCounts: true,
  },
  'journal-broken': {
    words: 'rows were changed behind the program',
    todo: 'npm run explain -- --all; docs/runbook.md#rows-changed-by-other-means',
    isState: true,
  },
  // What comes within five minutes is told together; not what `findings-raised` or `unit-error` tells of.
  'suspense-opened': {
    words: 'money came that has not paid its order',
    todo: 'npm run suspense -- list; docs/runbook.md#money-in-suspense',
    isState: false,
  },
  // The next such payment of another order stops the currency.
  'unit-error': {
    words: 'a payment came in another unit than was asked for',
    todo: 'npm run explain -- REFERENCE; docs/runbook.md#unit_error',
    isState: false,
  },
  'currency-stopped': {
    words: 'new checkouts of a currency are stopped: npm run currencies',
    todo: 'npm run currencies; docs/runbook.md#a-currency-is-stopped',
    isState: true,
  },
  'checkouts-stopped': {
    words: 'new checkouts were stopped by hand',
    todo: 'npm run currencies; docs/runbook.md#new-checkouts-are-stopped',
    isState: true,
    isEachNews: true,
  },
  // By a fault of its own, or for a minute without a success; over when all that failed has ended.
  'release-failing': {
    words: 'releases are not delivered',
    todo: 'npm run releases -- list; docs/runbook.md#releases-are-late',
    isState: true,
    hasCounts: true,
  },
  'release-given-up': {
    words: 'release given up, redeliver it by hand',
    todo: 'npm run releases -- list; docs/runbook.md#releases-are-given-up',
    isState: false,
    hasCounts: true,
  },
  'key-refused': {
    words: 'the service refuses the secret key: check GATEWAY_SECRET_KEY',
    todo: 'correct GATEWAY_SECRET_KEY and restart; docs/runbook.md#the-key-is-refused',
    isState: true,
    quietSec: QUIET_SEC,
  },
  'checkout-address-refused': {
    words: 'checkout address refused',
    todo: 'correct CHECKOUT_HOSTS and restart; docs/runbook.md#a-checkout-address-is-refused',
    isState: true,
    quietSec: QUIET_SEC,
  },
  'own-check': {
    words: "a check of the shop's own holds",
    todo: 'see your src/custom/alerts.ts; docs/runbook.md#a-check-of-your-own-holds',
    isState: true,
    hasCounts: true,
  },
  'worker-missing': {
    words:
      'no worker is running and WORKER=off: payments are not checked, releases not delivered; ' +
      'start npm run worker',
    todo: 'npm run worker; docs/runbook.md#a-worker-is-missing',
    isState: true,
  },
};
