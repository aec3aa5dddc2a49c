import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { textOfSheet, type Sheet } from '../../platform/csv.ts';

/**
 * Answers with a table as a file. Rows are read as fast as the client takes them, and no further once it has
 * left; if reading fails, the connection breaks, so that a part does not look like the whole.
 */
export async function sendCsv(res: Response, name: string, sheet: Sheet): Promise<void> {
  res.set({ 'cache-control': 'no-store', 'content-disposition': `attachment; filename="${name}.csv"` });
  res.type('text/csv');
  try {
    await pipeline(textOfSheet(sheet, 'csv'), res);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** The link to such a file. */
export function downloadAddress(name: string, params: Record<string, string> = {}): string {
  const query = new URLSearchParams(params).toString();
  return `/admin/exports/${name}${query === '' ? '' : `?${query}`}`;
}
