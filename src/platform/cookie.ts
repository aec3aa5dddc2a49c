/** The value of a cookie in a `Cookie` header; empty when there is none, or it cannot be decoded. */
export function cookieIn(header: string | undefined, name: string): string {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

type CookieLine = {
  /** Browsers take a `__Host-` cookie only from this very host, over https (or localhost), for all paths. */
  name: `__Host-${string}`;
  value: string;
  /** 0 makes the browser delete it. */
  maxAgeSec: number;
  /** Lax: it is also sent when a link on another site leads here. */
  sameSite: 'Strict' | 'Lax';
};

/** A `Set-Cookie` line that no script can read. */
export function cookieLine({ name, value, maxAgeSec, sameSite }: CookieLine): string {
  return `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${maxAgeSec}; HttpOnly; Secure; SameSite=${sameSite}`;
}
