/** The clock and the time zone in which times are written. */
export type View = { now: Date; timeZone: string };

const DAY_MS = 86_400_000;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/**
 * Formats are cached per time zone, because creating one costs more than using it. The Swedish
 * format `2026-11-25 13:33:07` is that of ISO 8601.
 */
const formats = new Map<string, Intl.DateTimeFormat>();
function localText(at: Date, timeZone: string): string {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', options);
  formats.set(timeZone, format);
  return format.format(at);
}

/** The date in a time zone, as `2026-11-25`. */
export const dateOf = (at: Date, timeZone: string): string => localText(at, timeZone).slice(0, 10);
/** The time in a time zone, as `13:33:07`. */
export const timeOf = (at: Date, timeZone: string): string => localText(at, timeZone).slice(11);

/** The moment at which a date like `2026-11-25` begins in a time zone. */
export function startOfDay(date: string, timeZone: string): Date {
  const wanted = Date.parse(date);
  const before = (at: Date): Date => new Date(wanted - (Date.parse(`${localText(at, timeZone)}Z`) - at.getTime()));
  const first = before(new Date(wanted));
  const second = before(first);
  // If clocks go forward at midnight, midnight does not exist, and the day begins at the first
  // moment after it.
  return dateOf(second, timeZone) < date ? first : second;
}

/**
 * `13:33` for today, `yesterday 13:33`, otherwise `25 Nov 13:33`, with the year if it is not the
 * current one.
 */
export function whenText(at: Date, { now, timeZone }: View): string {
  const [date, today, time] = [dateOf(at, timeZone), dateOf(now, timeZone), timeOf(at, timeZone).slice(0, 5)];
  const days = (Date.parse(date) - Date.parse(today)) / DAY_MS;
  const near = { '-1': 'yesterday', '0': '', '1': 'tomorrow' }[days];
  const [year = '', month, day] = date.split('-');
  const far = [Number(day), MONTHS[Number(month) - 1], today.startsWith(year) ? '' : year].join(' ').trim();
  return `${near ?? far} ${time}`.trim();
}

/** The same within a sentence: `today at 13:33`, `on 25 Nov 13:33`. */
export function atText(at: Date, view: View): string {
  const when = whenText(at, view);
  if (/^\d+:/.test(when)) return `today at ${when}`;
  return /^\d/.test(when) ? `on ${when}` : when.replace(' ', ' at ');
}
