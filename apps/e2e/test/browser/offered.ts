import { eventually } from '@tracking/testing';
import type { Locator, Page, Request, Response } from 'playwright-core';
import type { BrowserWindow } from './browser.ts';

/** Values for the required fields of a dialog, by input type. */
const DIALOG_VALUE_BY_INPUT_TYPE: Readonly<Record<string, string>> = {
  email: 'somebody@example.com',
  password: 'a long password for tests',
  'datetime-local': '2026-11-20T10:00',
  date: '2026-11-20',
  number: '1',
  url: 'https://example.com/hooks',
};
/** Selector of the buttons to press. */
const PRESSABLE_SELECTOR = 'button:visible:not([disabled]):not([aria-disabled=true])';
/** Timeout for actions on elements that may disappear, in milliseconds. */
const ELEMENT_ACTION_TIMEOUT_MS = 2_000;

/**
 * Presses every button of a page, every item of each menu, and the last button of each dialog, like a user who tries
 * everything. Buttons of the same name count as one.
 * @param known names of buttons to skip
 */
export async function pressEveryButtonOfPage(
  window: BrowserWindow,
  path: string,
  known: ReadonlySet<string>,
): Promise<{
  readonly names: readonly string[];
  /** Requests that the API rejected with 403. */
  readonly refused: readonly string[];
}> {
  const { page } = window;
  const refused: string[] = [];
  let pressing = 'opened';
  const asked = new Set<Request>();
  const ask = (request: Request): void => {
    // The event stream is excluded, because it never ends.
    if (request.url().includes('/v1/') && !request.url().includes('/events/stream')) asked.add(request);
  };
  const end = (request: Request): void => void asked.delete(request);
  const answered = () => eventually(() => expect(asked.size).toBe(0));
  const listen = (response: Response): void => {
    if (response.status() === 403)
      refused.push(`${path}, ${pressing}: ${response.request().method()} ${response.url()}`);
  };
  page.on('response', listen).on('request', ask).on('requestfinished', end).on('requestfailed', end);
  await window.openPageAtPath(path);
  const names = (await listButtonNames(page.locator(`main ${PRESSABLE_SELECTOR}`))).filter((name) => !known.has(name));
  for (const name of names) {
    pressing = name;
    try {
      const items = await pressButtonOfPage(window, path, name);
      await answered();
      for (let at = 0; at < items; at += 1) {
        pressing = `${name}, item ${at + 1}`;
        await pressButtonOfPage(window, path, name, at);
        await answered();
      }
    } catch (error) {
      throw new Error(`${path}, ${pressing}: the dialog cannot be completed`, { cause: error });
    }
  }
  page.off('response', listen).off('request', ask).off('requestfinished', end).off('requestfailed', end);
  return { names, refused };
}

/** @returns the number of items in the menu that the button opened; 0 if it opened none */
async function pressButtonOfPage(window: BrowserWindow, path: string, name: string, item?: number): Promise<number> {
  const { page } = window;
  await window.openPageAtPath(path);
  const button = page
    .locator(`main ${PRESSABLE_SELECTOR}`)
    .and(page.getByRole('button', { name, exact: true }))
    .first();
  // An earlier action may have removed the button.
  if ((await button.count()) === 0) return 0;
  // The button may disappear when it is pressed.
  const opensMenu = (await button.getAttribute('aria-haspopup')) === 'menu';
  await button.click();
  const items = page.locator('[role=menu]:visible [role=menuitem]:not([aria-disabled=true]):not([data-disabled])');
  if (opensMenu && item === undefined) {
    await page.locator('[role=menu]:visible').waitFor();
    return items.count();
  }
  if (item !== undefined) {
    await items.first().waitFor();
    await items.nth(item).click();
  }
  await fillInAndSubmitDialog(page);
  return 0;
}

/** Fills in the required fields of a dialog and presses its last button. */
async function fillInAndSubmitDialog(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog').last();
  if ((await dialog.count()) === 0) return;
  const last = dialog.locator(PRESSABLE_SELECTOR).last();
  // A dialog that shows progress closes without a click.
  const unlessClosed = (action: () => Promise<void>) =>
    eventually(async () => ((await dialog.isVisible()) ? action() : undefined));
  await unlessClosed(() => last.waitFor({ timeout: ELEMENT_ACTION_TIMEOUT_MS }));
  for (const field of await dialog
    .locator('input[required]:visible:not([readonly]), textarea[required]:visible')
    .all()) {
    if ((await field.inputValue()) !== '') continue;
    await field
      .fill(DIALOG_VALUE_BY_INPUT_TYPE[(await field.getAttribute('type')) ?? 'text'] ?? 'something')
      .catch(() => undefined);
  }
  await unlessClosed(() => last.click({ timeout: ELEMENT_ACTION_TIMEOUT_MS }));
}

async function listButtonNames(buttons: Locator): Promise<readonly string[]> {
  const all = await buttons.evaluateAll((elements) =>
    elements.map((element) => element.getAttribute('aria-label') ?? element.textContent?.trim() ?? ''),
  );
  // Names of buttons in several rows differ only by the name of the row.
  const byKind = new Map(all.filter((name) => name !== '').map((name) => [name.replace(/\d+/g, ''), name]));
  return [...byKind.values()];
}
