import type { Browser } from 'playwright-core';
import { generateEmail } from '../people.ts';
import { runCli, findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createHttpClient, createWorkspace } from '../tenant.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';

declareBrowserTests('a new user', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  it('accepts an invitation, creates a key, and sees the shipment that a system sends with it', async () => {
    const email = generateEmail('new');
    const workspace = await createWorkspace(subject, 'first-use');
    const link = await runCli(
      subject,
      'users',
      'create',
      '--email',
      email,
      '--role',
      'admin',
      '--workspace',
      workspace,
    );
    const window = await BrowserWindow.openBrowserWindow(browser, subject);
    const { page } = window;
    await window.openPageAtPath(`/invitation#${link.slice(link.indexOf('#') + 1)}`);
    await page.getByLabel('Your name').fill('Ann Visser');
    await page.locator('input[type=password]').fill('a long password for tests');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('No shipments yet').waitFor();

    await page.getByRole('link', { name: 'Settings' }).click();
    // The empty shipment list has a button of the same name and stays until the keys page is loaded.
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Nightly import');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = await dialog.getByLabel('Key', { exact: true }).inputValue();
    expect(key).toMatch(/^sk_live_/);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: 'Nightly import', exact: true }).waitFor();

    const system = createHttpClient(subject.urls, { authorization: `Bearer ${key}` });
    const { status } = await system.post('/v1/shipments', { external_id: 'PO-1', mode: 'ocean' });
    expect(status).toBe(201);
    await page.getByRole('link', { name: 'Shipments', exact: true }).click();
    await page.getByRole('link', { name: 'PO-1' }).click();
    await page.getByRole('heading', { name: 'PO-1' }).waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });
});
