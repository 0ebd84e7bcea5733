import type { Locator, Page } from 'playwright-core';

/** Chooses what a field offers, by a part of its name. */
export async function choose(page: Page, field: Locator, option: string): Promise<void> {
  await field.click();
  await page.getByRole('option', { name: option }).click();
}

/** Where a port is given; legs have fields of the same names below. */
export function portField(page: Page, label: string): Locator {
  return page.getByRole('combobox', { name: label, exact: true }).first();
}
