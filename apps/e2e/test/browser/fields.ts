import type { Locator, Page } from 'playwright-core';

/** Selects an option of a field by part of its name. */
export async function selectOption(page: Page, field: Locator, option: string): Promise<void> {
  await field.click();
  await page.getByRole('option', { name: option }).click();
}

/** Returns the field for a port of the shipment. Legs have fields with the same names further down on the page. */
export function locatePortComboboxOnPage(page: Page, label: string): Locator {
  return page.getByRole('combobox', { name: label, exact: true }).first();
}
