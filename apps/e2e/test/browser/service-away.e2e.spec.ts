import type { Browser } from 'playwright-core';
import { eventually, scaleTimeout } from '@tracking/testing';
import { FAST_WEBHOOK_RETRY_SETTINGS_FOR_TEST } from '../shared-standalone.ts';
import { createSignedInAdmin, type SignedInUser } from '../people.ts';
import { startStandaloneSystem, type StartedSystem } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { uploadDocument } from '../uploads.ts';
import { BrowserWindow, declareBrowserTests, createNotFoundResponse, startBrowser } from './browser.ts';
import { createPdf } from './paper.ts';

declareBrowserTests('a page that is left open', () => {
  let subject: StartedSystem;
  let browser: Browser;
  let ann: SignedInUser;
  beforeAll(async () => {
    subject = await startStandaloneSystem(FAST_WEBHOOK_RETRY_SETTINGS_FOR_TEST);
    browser = await startBrowser();
    const workspace = await createWorkspace(subject, 'away');
    ann = await createSignedInAdmin(subject, workspace);
    await ann.api.post('/v1/shipments', { external_id: 'PO-1', mode: 'ocean' });
  });
  afterAll(async () => {
    await browser?.close();
    await subject?.stop();
  });

  it(
    'shows that the service is unreachable, keeps the layout around parts that fail to load, and recovers when the service is back',
    async () => {
      const { page, context } = await BrowserWindow.openBrowserWindow(browser, subject, ann);
      await page.goto('/shipments');
      await page.getByRole('link', { name: 'PO-1' }).waitFor();
      const [server] = subject.processes;
      await server?.killProcess();
      await page.getByText('Connection lost').waitFor();
      expect(await page.getByRole('link', { name: 'PO-1' }).count()).toBe(1);

      await page.getByRole('link', { name: 'Settings' }).click();
      const failed = page.getByRole('alert').filter({ hasText: 'Part of this page could not be loaded' });
      await failed.waitFor();
      expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(1);

      await server?.startProcess();
      await page.getByText('Connection lost').waitFor({ state: 'detached' });
      await failed.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await page.getByRole('link', { name: 'Shipments', exact: true }).click();
      // A shipment that is created while the list is being read again is part of the list, and not reported as new.
      let created = 0;
      await eventually(async () => {
        await ann.api.post('/v1/shipments', { external_id: `NEW-${(created += 1)}`, mode: 'ocean' });
        await page
          .getByText(/\d+ new/)
          .first()
          .waitFor({ timeout: 5_000 });
      });
      await context.close();
    },
    scaleTimeout(120_000),
  );

  it('reports a failed download', async () => {
    const { data } = await ann.api.post<{ id: string }>('/v1/shipments', { external_id: 'PO-4', mode: 'ocean' });
    await uploadDocument(ann.api, data.id, createPdf('Bill'), { type: 'bill_of_lading' });
    const window = await BrowserWindow.openBrowserWindow(browser, subject, ann);
    const { page } = window;
    await window.openPageAtPath(`/shipments/${data.id}/documents`);
    await page.route('**/v1/documents/*/download', (route) => route.fulfill(createNotFoundResponse('It is gone.')));
    await page.getByRole('button', { name: 'Actions for bill.pdf' }).click();
    await page.getByRole('menuitem', { name: 'Download' }).click();
    await page.getByRole('alert').filter({ hasText: 'It is gone.' }).waitFor();

    await window.openPageAtPath('/shipments/import');
    await page.route('**/papaparse*.js', (route) => route.abort());
    await page.getByRole('button', { name: 'Download an example' }).click();
    await page.getByRole('alert').filter({ hasText: 'Part of this page could not be loaded' }).waitFor();
    await window.closeBrowserWindow();
  });

  it('reports a rejected change if the current values cannot be read', async () => {
    const fields = { url: 'http://127.0.0.1:9999/hooks', event_types: ['*'] };
    const { data, status } = await ann.api.post<{ id: string }>('/v1/webhook_endpoints', fields);
    expect(status).toBe(201);
    const window = await BrowserWindow.openBrowserWindow(browser, subject, ann);
    const { page } = window;
    await window.openPageAtPath(`/settings/webhooks/${data.id}?tab=configuration`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('Mine');
    await ann.api.patch(`/v1/webhook_endpoints/${data.id}`, { description: 'Theirs' });
    const path = `**/v1/webhook_endpoints/${data.id}`;
    await page.route(path, (route) =>
      route.request().method() === 'GET' ? route.fulfill(createNotFoundResponse('Not now.')) : route.continue(),
    );
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByRole('alert').filter({ hasText: 'Not now.' }).waitFor();
    await page.unroute(path);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('Description is now: Theirs').waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('keeps the input after the session ended, and continues once the user signs in in another tab', async () => {
    const { page, context } = await BrowserWindow.openBrowserWindow(browser, subject, ann);
    await page.goto('/shipments/new');
    const reference = page.getByLabel('Your reference');
    await reference.fill('PO-3');
    const cookies = await context.cookies();
    await context.clearCookies();
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click();
    await page.getByText('Your session has ended').waitFor();
    expect(await reference.inputValue()).toBe('PO-3');

    await context.addCookies(cookies);
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByRole('heading', { name: 'PO-3' }).waitFor();
    await context.close();
  });
});
