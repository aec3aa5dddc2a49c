import { readFile } from 'node:fs/promises';

export const STYLESHEET_PATH = '/sandbox.css';

/** The one style sheet, read once at start. */
export function readStylesheet(): Promise<string> {
  return readFile(new URL('./sandbox.css', import.meta.url), 'utf8');
}
