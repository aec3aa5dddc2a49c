/**
 * The words that services build the names of a payment's fields from, and how a name is split into them:
 * `amountReceived`, `received_amount`, `Amount-Received` and `amountreceived` are the same two words.
 */

const list = (words: string): readonly string[] => words.split(' ');

/** Names for the payment itself. An order or invoice at a payment service is something to be paid. */
export const PAYMENT = new Set(
  list(
    'payment payments pay pmt transaction transactions tran trans trx trxn txn tx charge capture intent ' +
      'debit purchase sale deposit order invoice checkout collection',
  ),
);
/** Names of a record of the payment inside the payment's record. */
export const NESTED = new Set(
  list(
    'payment payments pmt transaction transactions tran trans trx trxn txn tx charge charges capture ' +
      'intent data record result info detail details object',
  ),
);
/** Words that add nothing, or only whose view of the payment it is: the current status is the status. */
export const NOW = new Set(
  list(
    'current final latest overall actual new is the money fund funds processing gateway provider processor ' +
      'acquirer result record',
  ),
);
/** Objects of amounts, among which may be what came in. */
export const AMOUNTS = new Set(list('amount amounts total totals money'));
export const WITH_AMOUNTS = new Set(list('breakdown detail details info summary data'));

/** Words that mean that money came in. */
export const CAME_IN = new Set(
  list('received recieved recvd rcvd paid captured collected deposited tendered'),
);
export const AMOUNT = new Set(list('amount amt total sum value money funds'));
/** Words that mean it beside a word from {@link AMOUNT} alone. */
export const CAME_IN_AMOUNT = new Set(list('capture actual'));
/** Words beside {@link CAME_IN} in the name of an amount that has no word from {@link AMOUNT}. */
export const WITH_CAME_IN = new Set([...list('actually actual gross so far in minor major'), ...PAYMENT]);
/**
 * With one of these words a name means something other than how much came in: a time, a part, what is
 * still to come, what the merchant is paid, or the same money in another currency.
 */
export const NOT_CAME_IN = new Set(
  list(
    'at on date time timestamp when is has was been fee fees charges tax taxes vat commission tip shipping ' +
      'discount surcharge interest insurance cashback points reward rewards net settlement settlements ' +
      'settled settle payout out disbursed requested expected due payable remaining outstanding unpaid ' +
      'balance refund refunds refundable refunded reversed limit max min maximum minimum count times ' +
      'number percent percentage rate ratio local converted foreign base original merchant seller vendor ' +
      'beneficiary recipient payee subaccount wallet business previous previously prior last next to ' +
      'currency code id reference ref installment installments instalment instalments status state method ' +
      'type channel mode text words formatted display',
  ),
);
/** The name itself gives the unit. */
export const MINOR = new Set(list('minor kobo cents cent pesewas'));

/** Flags that must be true for a payment that paid, and flags that must be false. */
export const MUST_BE_TRUE = new Set(
  list('paid captured received collected successful succeeded success approved completed complete confirmed'),
);
export const MUST_BE_FALSE = new Set(
  list('failed declined rejected aborted pending unpaid underpaid partial partially'),
);
export const WITH_FLAG = new Set([...list('is has have was been fully in full money funds'), ...PAYMENT]);

/** Money that went back or never came, or a cancelled payment: such a field must be empty. */
export const TAKEN_BACK = new Set(
  list(
    'refunded refund refunds reversed reversal reversals disputed dispute disputes chargeback chargebacks ' +
      'chargedback clawback returned recalled revoked void voided cancelled canceled unpaid underpaid ' +
      'underpayment outstanding shortfall',
  ),
);
/** With any other word the name is about rules and abilities: `refundPolicy`, `refundableAmount`. */
export const WITH_TAKEN_BACK = new Set([
  ...list(
    'is has have had was been ever amount amounts amt total value sum count at on date time timestamp when ' +
      'by partially partial fully full id reference ref reason status state data info detail details list ' +
      'items object so far minor open opened active initiated requested processed issued made given ' +
      'completed pending successful lost in under progress already latest last ids history records money ' +
      'fund funds raised filed created',
  ),
  ...PAYMENT,
]);

/** Words before `currency` in a field that holds the currency of the money that came in. */
export const OF_CURRENCY = new Set([
  ...AMOUNT,
  ...CAME_IN,
  ...list('payment transaction tran trans trx trxn txn tx charge'),
]);

/** After a status: the same in other words, or the reason. */
export const ABOUT_STATUS = new Set(list('detail details description text name message reason'));

/** Fields of an answer's body that are about the call. */
export const OF_CALL = new Set([
  'message',
  'messages',
  'msg',
  'code',
  'status code',
  'http code',
  'http status',
]);

/** Keys that make an object a record of its own. */
export const RECORD_KEYS = new Set(list('status state amount reference'));

const VOCABULARY = new Set(
  [
    PAYMENT,
    NESTED,
    NOW,
    AMOUNTS,
    WITH_AMOUNTS,
    CAME_IN,
    AMOUNT,
    WITH_CAME_IN,
    NOT_CAME_IN,
    MINOR,
    MUST_BE_TRUE,
    MUST_BE_FALSE,
    WITH_FLAG,
    TAKEN_BACK,
    WITH_TAKEN_BACK,
  ].flatMap((words) => [...words]),
);
for (const word of list('sub message code http ccy customer card account risk kyc test live sandbox'))
  VOCABULARY.add(word);

/** Longer names are ignored: no service has such field names. */
const MAX_NAME = 64;

/** The words of a field's name, in lower case. */
export function wordsOfName(name: string): readonly string[] {
  if (name.length > MAX_NAME) return [];
  const parts = name
    .normalize('NFKC')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\b(charged?|clawed|claw|rolled|roll)[_\- ]?back/g, 'chargeback')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '');
  return parts.flatMap((part) => cut(part, new Set()) ?? [part]);
}

/** Splits `amountpaid` into its words, trying the longest first; null when not all of them are known. */
function cut(part: string, dead: Set<string>): string[] | null {
  if (VOCABULARY.has(part)) return [part];
  if (dead.has(part)) return null;
  for (let length = part.length - 1; length >= 2; length -= 1) {
    if (!VOCABULARY.has(part.slice(0, length))) continue;
    const rest = cut(part.slice(length), dead);
    if (rest !== null) return [part.slice(0, length), ...rest];
  }
  dead.add(part);
  return null;
}
