/**
 * The books of the benchmark, from a formula: transaction `n` of the service and payment `n` of ours are made
 * from the number alone, here and in SQL, so that nothing has to be held and both sides agree.
 */
const FACTORS = [2_654_435_761, 2_246_822_519, 3_266_489_917] as const;
/** Of a hundred payments ninety-seven are paid; one expired, and two are still open. */
const EXPIRED_AT = 31;
const OPEN_AT = [57, 83] as const;
const LEAST = 1_000_000;
const SPAN = 9_000_000;

/**
 * The formulas in SQL, of a bigint column `n`. An odd factor permutes the numbers below 2^32: no reference
 * repeats.
 */
export const SQL = {
  reference: FACTORS.map((factor) => `lpad(to_hex((n * ${factor}) & 4294967295), 8, '0')`).join(' || '),
  amount: `${LEAST} + (n * 7919) % ${SPAN}`,
  status: `CASE WHEN n % 100 = ${EXPIRED_AT} THEN 'expired' WHEN n % 100 IN (${OPEN_AT.join(', ')}) THEN 'open' ELSE 'paid' END`,
};

/** Of `count` payments, how many are paid on both sides. */
export function paidOf(count: number): number {
  let paid = Math.floor(count / 100) * 97;
  for (let n = count - (count % 100) + 1; n <= count; n += 1) if (wordOf(n) === PAID) paid += 1;
  return paid;
}

const [PAID, EXPIRED, PENDING] = [Buffer.from('SUCCESS'), Buffer.from('EXPIRED'), Buffer.from('PENDING')];

function wordOf(n: number): Buffer {
  const place = n % 100;
  return place === EXPIRED_AT ? EXPIRED : place === OPEN_AT[0] || place === OPEN_AT[1] ? PENDING : PAID;
}

// What differs between transactions stands where these marks stand, and is as long.
const [ID, REFERENCE, STATUS, MAJOR, MINOR, SERIAL] = [
  '@@@@@@@@',
  '#'.repeat(24),
  '!!!!!!!',
  '%%%%%',
  '&&',
  '^^^^^^^^',
];

const TIME = '2026-11-19T10:20:30.000Z';

/** Some 220 bytes, of the most probable shape. */
export const RECORD = `{"id":"70000000${ID}","reference":"${REFERENCE}","status":"${STATUS}","amount":${MAJOR}.${MINOR},"currency":"NGN","channel":"card","customer":{"email":"payer${SERIAL}@example.com"},"createdAt":"${TIME}"},`;
/** The same as a line of COPY's text format. */
export const LINE = `70000000${ID}\t${REFERENCE}\t${STATUS}\t${MAJOR}.${MINOR}\tNGN\tcard\tpayer${SERIAL}@example.com\t${TIME}\n`;

/**
 * Puts what differs into a text that is there already, byte by byte: the service and the file must not take
 * the processor from what is measured (0.2 µs a record).
 * @param timeOf the time of each in milliseconds; unless given, all have one
 * @returns a function that writes the transactions from `from` up or down to `to` into a buffer of its own
 */
export function createWriter(
  text: string,
  timeOf?: (n: number) => number,
): (from: number, to: number) => Buffer {
  const template = Buffer.from(text, 'latin1');
  const [id, reference, status, major, minor, serial, time] = [
    ...[ID, REFERENCE, STATUS, MAJOR, MINOR, SERIAL, TIME],
  ].map((mark) => template.indexOf(mark)) as [number, number, number, number, number, number, number];
  return (from, to) => {
    const step = from <= to ? 1 : -1;
    const buffer = Buffer.allocUnsafeSlow(template.length * (Math.abs(to - from) + 1)).fill(template);
    for (let n = from, at = 0; at < buffer.length; n += step, at += template.length) {
      putDigits(buffer, at + id, n, 8);
      for (let part = 0; part < FACTORS.length; part += 1)
        putHex(buffer, at + reference + 8 * part, Math.imul(n, FACTORS[part] ?? 0) >>> 0);
      const word = wordOf(n);
      for (let letter = 0; letter < word.length; letter += 1)
        buffer[at + status + letter] = word[letter] ?? 0;
      const amount = LEAST + ((n * 7_919) % SPAN);
      putDigits(buffer, at + major, Math.trunc(amount / 100), 5);
      putDigits(buffer, at + minor, amount % 100, 2);
      putDigits(buffer, at + serial, n, 8);
      if (timeOf !== undefined) buffer.write(new Date(timeOf(n)).toISOString(), at + time, 'latin1');
    }
    return buffer;
  };
}

function putDigits(buffer: Buffer, at: number, value: number, width: number): void {
  for (let rest = value, place = at + width - 1; place >= at; place -= 1) {
    buffer[place] = 0x30 + (rest % 10);
    rest = Math.trunc(rest / 10);
  }
}

function putHex(buffer: Buffer, at: number, value: number): void {
  for (let rest = value, place = at + 7; place >= at; place -= 1) {
    const digit = rest & 15;
    buffer[place] = digit + (digit < 10 ? 0x30 : 0x57);
    rest >>>= 4;
  }
}
