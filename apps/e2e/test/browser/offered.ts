import { eventually } from '@tracking/testing';
import type { Locator, Page, Request, Response } from 'playwright-core';
import type { Window } from './browser.ts';

/** What a page may ask of a form before it sends it. */
const SOMETHING: Readonly<Record<string, string>> = {
  email: 'somebody@example.com',
  password: 'a sentence that nobody guesses',
  'datetime-local': '2026-11-20T10:00',
  date: '2026-11-20',
  number: '1',
  url: 'https://example.com/hooks',
};
/** What is pressed on a page where it is about that alone. */
const PRESSED = 'button:visible:not([disabled]):not([aria-disabled=true])';
/** How long one try at what may go away meanwhile takes. */
const BRIEFLY_MS = 2_000;

/**
 * Presses each button on a page, each item of the menus that open and what is last in each dialog, as somebody would who tries
 * everything that they are offered. Buttons of the same name count as one.
 * @param known names of buttons that are not pressed again
 */
export async function refusedOf(
  window: Window,
  path: string,
  known: ReadonlySet<string>,
): Promise<{
  readonly names: readonly string[];
  /** What the API refused as not allowed. */
  readonly refused: readonly string[];
}> {
  const { page } = window;
  const refused: string[] = [];
  let pressing = 'opened';
  const asked = new Set<Request>();
  const ask = (request: Request): void => {
    // The one that does not end.
    if (request.url().includes('/v1/') && !request.url().includes('/events/stream')) asked.add(request);
  };
  const end = (request: Request): void => void asked.delete(request);
  const answered = () => eventually(() => expect(asked.size).toBe(0));
  const listen = (response: Response): void => {
    if (response.status() === 403)
      refused.push(`${path}, ${pressing}: ${response.request().method()} ${response.url()}`);
  };
  page.on('response', listen).on('request', ask).on('requestfinished', end).on('requestfailed', end);
  await window.goto(path);
  const names = (await namesOf(page.locator(`main ${PRESSED}`))).filter((name) => !known.has(name));
  for (const name of names) {
    pressing = name;
    try {
      const items = await press(window, path, name);
      await answered();
      for (let at = 0; at < items; at += 1) {
        pressing = `${name}, item ${at + 1}`;
        await press(window, path, name, at);
        await answered();
      }
    } catch (error) {
      throw new Error(`${path}, ${pressing}: cannot be gone through with`, { cause: error });
    }
  }
  page.off('response', listen).off('request', ask).off('requestfinished', end).off('requestfailed', end);
  return { names, refused };
}

/** @returns how many items the menu has that it opened; 0 where it opened none */
async function press(window: Window, path: string, name: string, item?: number): Promise<number> {
  const { page } = window;
  await window.goto(path);
  const button = page
    .locator(`main ${PRESSED}`)
    .and(page.getByRole('button', { name, exact: true }))
    .first();
  // What was done with another button took it away.
  if ((await button.count()) === 0) return 0;
  // Pressed, it may be gone.
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
  await goOn(page);
  return 0;
}

/** Fills in what a dialog must be told, and presses what is last in it: that is how it is gone through with. */
async function goOn(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog').last();
  if ((await dialog.count()) === 0) return;
  const last = dialog.locator(PRESSED).last();
  // One that tells how far something is ends by itself.
  const unlessGone = (action: () => Promise<void>) =>
    eventually(async () => ((await dialog.isVisible()) ? action() : undefined));
  await unlessGone(() => last.waitFor({ timeout: BRIEFLY_MS }));
  for (const field of await dialog
    .locator('input[required]:visible:not([readonly]), textarea[required]:visible')
    .all()) {
    if ((await field.inputValue()) !== '') continue;
    await field.fill(SOMETHING[(await field.getAttribute('type')) ?? 'text'] ?? 'something').catch(() => undefined);
  }
  await unlessGone(() => last.click({ timeout: BRIEFLY_MS }));
}

async function namesOf(buttons: Locator): Promise<readonly string[]> {
  const all = await buttons.evaluateAll((elements) =>
    elements.map((element) => element.getAttribute('aria-label') ?? element.textContent?.trim() ?? ''),
  );
  // Rows differ by the name of what they are about.
  const byKind = new Map(all.filter((name) => name !== '').map((name) => [name.replace(/\d+/g, ''), name]));
  return [...byKind.values()];
}
