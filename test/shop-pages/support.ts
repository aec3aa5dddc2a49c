import { expect } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { WORDS, type Words } from '../../src/shop-pages/told.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
type Found = { violations: { id: string; nodes: { html: string }[] }[] };

/**
 * Opens pages on a desktop and two phones, in light and dark mode. Nothing may overflow, and axe
 * may find nothing.
 */
export async function expectGoodLooks(browser: Browser, ...urls: string[]): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme });
    for (const url of urls) {
      await page.goto(url);
      await expectToLookGood(page);
    }
    await page.close();
  }
}

/** The same for the current page, with all collapsed parts opened. */
export async function expectToLookGood(page: Page): Promise<void> {
  await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
  await page.evaluate(AXE);
  for (const width of [1280, 390, 320]) {
    await expectToFit(page, width);
    const { violations } = await page.evaluate<Found>('axe.run({ resultTypes: ["violations"] })');
    const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
    expect([page.url(), width, ...found]).toEqual([page.url(), width]);
  }
}

export async function expectToFit(page: Page, ...widths: number[]): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const is = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect([page.url(), is]).toEqual([page.url(), width]);
  }
}

/** The text of some HTML, as a person reads it. */
export function textOf(html: string): string {
  const text = html.replace(/<head>.*<\/head>|<[^>]+>/gs, ' ');
  return text.replace(/\s+/g, ' ').trim();
}

/** A made-up language: marks enclose every text. */
export const FOREIGN = JSON.parse(JSON.stringify(WORDS), (key, value: unknown) =>
  typeof value === 'string' && key !== 'language' ? `«${value}»` : value,
) as Words;

/** The text that comes from no words.json: everything outside the marks. */
export function unsaid(text: string): string {
  const less = text.replace(/«[^«»]*»/g, '');
  return less === text ? text.trim() : unsaid(less);
}
