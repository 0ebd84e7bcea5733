import { scaleTimeout } from '@tracking/testing';
import type { Browser, Page } from 'playwright-core';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createKey, createWorkspace } from '../tenant.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';

declareBrowserTests('the API documentation', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  it(
    'sends requests with the values that it fills in, as soon as the user has entered an API key',
    async () => {
      const { key } = await createKey(subject, await createWorkspace(subject, 'documentation'), 'admin');
      const window = await BrowserWindow.openBrowserWindow(browser, subject);
      const { page } = window;
      page.setDefaultTimeout(scaleTimeout(60_000));
      await page.goto('/docs');
      await authorize(page, key);

      expect(await execute(page, 'listShipments')).toBe('200');
      expect(await execute(page, 'upsertShipment')).toBe('201');
      expect(window.complaints).toEqual([]);
      await window.closeBrowserWindow();
    },
    // The page renders all operations again after each click, which takes seconds on a busy machine.
    scaleTimeout(180_000),
  );
});

async function authorize(page: Page, key: string): Promise<void> {
  await page.locator('.auth-wrapper .authorize').click();
  const dialog = page.locator('.auth-container', { hasText: 'bearer' });
  await dialog.locator('input').fill(key);
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await page.locator('.close-modal').click();
}

/** Executes an operation on shipments without changing a field. Returns the status that the page shows. */
async function execute(page: Page, operationId: string): Promise<string> {
  const operation = page.locator(`#operations-Shipments-${operationId}`);
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const status = operation.locator('.live-responses-table .response-col_status').last();
  return (await status.innerText()).trim().split(/\s/, 1)[0] ?? '';
}
