const MAX_SHOWN = 16_384;
/** The part before the "@", also where that sign is escaped (JSON, percent-encoding). */
const LOCAL_PART = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,254}(?=@|\\u0040|%40)/gi;

/**
 * Bytes from outside as text to display: at most 16 KiB; what is not text becomes a replacement character, so
 * nothing can reverse the text direction; of an e-mail address only the domain is shown, unless `isWhole`.
 * The row keeps every byte.
 */
export function foreignText(bytes: Buffer, isWhole = false): string {
  const text = bytes
    .subarray(0, MAX_SHOWN)
    .toString('utf8')
    .replace(/[^\P{C}\n\t]/gu, '\ufffd')
    .replace(LOCAL_PART, (part) => (isWhole ? part : '•••'));
  return bytes.length > MAX_SHOWN ? `${text}\n… and ${bytes.length - MAX_SHOWN} bytes more` : text;
}
