import { domainToASCII } from 'node:url';
import { z } from 'zod';

/** The characters that RFC 5321 allows before the @ without quotes. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/**
 * A label of a host name: letters, digits and inner hyphens. Internationalized names begin with
 * xn--.
 */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const MAX_LOCAL_PART = 64;
const MAX_ADDRESS = 254;

/**
 * Checks an e-mail address.
 * @returns a message that says what to change, or null if mail servers accept the address
 */
function faultOf(address: string): string | null {
  const at = address.lastIndexOf('@');
  const localPart = address.slice(0, Math.max(0, at));
  const domain = address.slice(at + 1);
  if (at < 1 || domain === '') return 'must be an e-mail address: a name, an at sign and a domain';
  if (address.length > MAX_ADDRESS || localPart.length > MAX_LOCAL_PART)
    return 'must be an e-mail address of at most 254 characters, 64 of them before the at sign';
  const ascii = domainToASCII(domain);
  if (/[^\x20-\x7e]/.test(domain) && ascii !== '') return `must have an ASCII domain: write ${ascii}`;
  if (!LOCAL_PART.test(localPart)) return 'must have only letters, digits and common symbols before the at sign';
  const labels = domain.split('.');
  const isHost = labels.length > 1 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '');
  return isHost ? null : 'must have a domain like example.com after the at sign';
}

/** An e-mail address as mail servers accept it. Surrounding white space is removed. */
export const emailAddress = z
  .string()
  .trim()
  .superRefine((address, context) => {
    const fault = faultOf(address);
    if (fault !== null) context.addIssue(fault);
  })
  .meta({ format: 'email', maxLength: MAX_ADDRESS });
