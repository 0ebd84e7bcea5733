import type { Browser } from 'playwright-core';
import { createSignedInAdmin } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { listAllItems, createKey, createWorkspace } from '../tenant.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';

declareBrowserTests('an empty workspace', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  it('checks off a key and a shipment as they arrive, regardless of their source', async () => {
    const workspace = await createWorkspace(subject, 'first-steps');
    const window = await BrowserWindow.openBrowserWindow(
      browser,
      subject,
      await createSignedInAdmin(subject, workspace),
    );
    const { page } = window;
    await window.openPageAtPath('/start?environment=test');
    await page.getByRole('listitem', { name: 'Create key: to do' }).waitFor();
    expect(await page.getByLabel('Command').innerText()).toContain(`curl ${subject.urls[0]}/v1/shipments`);
    expect(await window.findAccessibilityViolations()).toEqual([]);

    const { api } = await createKey(subject, workspace, 'operator', 'test');
    await page.getByRole('listitem', { name: 'Create key: done' }).waitFor();
    await api.post('/v1/shipments', { external_id: 'PO-1001', mode: 'ocean' });
    const sent = page.getByRole('listitem', { name: 'Send the first shipment: done' });
    await sent.getByRole('link', { name: 'PO-1001' }).waitFor();
    await page.getByRole('listitem', { name: 'Get webhooks: to do' }).waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('adds sample journeys in test only, and a second click creates no duplicates', async () => {
    const workspace = await createWorkspace(subject, 'samples');
    const window = await BrowserWindow.openBrowserWindow(
      browser,
      subject,
      await createSignedInAdmin(subject, workspace),
    );
    const { page } = window;
    const { api } = await createKey(subject, workspace, 'viewer', 'test');
    const fill = page.getByRole('button', { name: 'Add sample journeys' });
    await window.openPageAtPath('/start');
    await page.getByRole('listitem', { name: 'Create key: to do' }).waitFor();
    expect(await fill.count()).toBe(0);

    await window.openPageAtPath('/start?environment=test');
    await fill.click();
    await page.getByText('7 sample journeys added.').waitFor();
    const found = async () => {
      const shipments = await listAllItems<{ id: string; status: string; version: number }>(api, '/v1/shipments');
      const counts = shipments.map(async ({ id, status, version }) => {
        const milestones = await listAllItems(api, `/v1/shipments/${id}/milestones`);
        return [id, status, version, milestones.length];
      });
      return (await Promise.all(counts)).sort();
    };
    const once = await found();
    expect(new Set(once.map(([, status]) => status)).size).toBeGreaterThan(4);
    await fill.click();
    await page.getByText('The sample journeys already exist.').waitFor();
    expect(await found()).toEqual(once);

    await window.openPageAtPath('/shipments?environment=test');
    await page.getByRole('link', { name: 'SAMPLE-1001' }).waitFor();
    // The README shows these two screenshots.
    await window.waitForPageData();
    await window.takeScreenshot('shipments');
    await page.getByRole('link', { name: 'SAMPLE-1002' }).click();
    await page.getByRole('heading', { name: 'SAMPLE-1002' }).waitFor();
    await window.waitForPageData();
    await window.takeScreenshot('shipment');
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });
});
