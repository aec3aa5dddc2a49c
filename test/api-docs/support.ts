import type { Locator, Page } from 'playwright-core';

/** Opens the explorer, and waits until it shows the document. */
export async function openExplorer(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/docs/explorer`);
  await page.locator('.webhooks .opblock').first().waitFor();
}

/** Expands an operation of the explorer. */
export async function operation(page: Page, id: string): Promise<Locator> {
  const part = page.locator(`#operations-default-${id}`);
  await part.locator('.opblock-summary-control').click();
  return part;
}
