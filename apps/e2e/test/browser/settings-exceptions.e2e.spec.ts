import type { Browser, Page, Route } from 'playwright-core';
import { createSignedInAdmin, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';

interface Settings {
  readonly exceptions: Readonly<Record<string, object>>;
  readonly required_documents: Readonly<Record<string, readonly string[]>>;
}

declareBrowserTests('settings of exceptions', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  let admin: SignedInUser;

  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    const workspace = await createWorkspace(subject, 'rules');
    admin = await createSignedInAdmin(subject, workspace);
  });
  afterAll(async () => {
    await browser?.close();
  });
  /** Runs `act` while the service rejects changes to settings. */
  async function refusing(page: Page, act: () => Promise<void>): Promise<void> {
    const [path, error] = ['**/v1/settings', { type: 'invalid_request', code: 'x', message: 'It is refused.' }];
    const refuse = (route: Route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 400, json: { error } }) : route.continue();
    await page.route(path, refuse);
    await act();
    await page.unroute(path, refuse);
  }
  const settings = async () => (await admin.api.get<Settings>('/v1/settings')).data;

  it('a rule is changed despite a concurrent change, and reset to its default', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath('/settings/exceptions');
    const dialog = page.getByRole('dialog');
    const change = () => page.getByRole('button', { name: 'Edit ETA slipped' }).click();
    await change();
    await dialog.getByText('Default: 24 h').waitFor();
    await dialog.getByLabel('Hours after the original ETA').fill('36');
    await dialog.getByLabel('Rail').fill('12');
    await admin.api.patch('/v1/settings', { exceptions: { eta_slip: { after_hours: 30 } } });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('The settings have changed').waitFor();
    await dialog.getByRole('row').filter({ hasText: '30 h' }).filter({ hasText: '36 h' }).waitFor();
    expect((await settings()).exceptions['eta_slip']).toMatchObject({ after_hours: 30, by_mode: { air: 4, road: 4 } });
    await refusing(page, async () => {
      await dialog.getByRole('button', { name: 'Save my values' }).click();
      await dialog.getByText('It is refused.').waitFor();
    });
    await dialog.getByRole('button', { name: 'Save my values' }).click();
    await dialog.waitFor({ state: 'detached' });
    const by_mode = { air: 4, road: 4, rail: 12 };
    expect((await settings()).exceptions['eta_slip']).toMatchObject({ after_hours: 36, by_mode });

    await change();
    await dialog.getByRole('button', { name: 'Reset to default' }).click();
    await dialog.waitFor({ state: 'detached' });
    const standard = { after_hours: 24, by_mode: { air: 4, road: 4 } };
    expect((await settings()).exceptions['eta_slip']).toMatchObject(standard);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('required documents of a mode are changed', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath('/settings/required-documents');
    await page.getByText(/^0 bytes of 10\.7 GB used by documents of this workspace/).waitFor();
    await page.getByLabel('Ocean', { exact: true }).and(page.locator('input')).click();
    await page.getByRole('option', { name: 'Bill of lading' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Required documents saved.').waitFor();
    expect((await settings()).required_documents).toMatchObject({ ocean: ['bill_of_lading'], air: [] });

    await page.getByLabel('Air', { exact: true }).and(page.locator('input')).click();
    await page.getByRole('option', { name: 'Packing list' }).click();
    await page.keyboard.press('Escape');
    await admin.api.patch('/v1/settings', { required_documents: { rail: ['photo'] } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The settings have changed').waitFor();
    await refusing(page, async () => {
      await page.getByRole('button', { name: 'Save my values' }).click();
      await page.getByText('It is refused.').waitFor();
    });
    await page.getByRole('button', { name: 'Keep current values' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    expect(await page.getByText('It is refused.').count()).toBe(0);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('events appear as they happen, wait while paused, and can be opened', async () => {
    const { data } = await admin.api.post<{ id: string }>('/v1/shipments', { external_id: 'PO-EVENTS', mode: 'road' });
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath('/settings/events');
    await page.getByRole('button', { name: /Shipment created PO-EVENTS/ }).click();
    await page.getByRole('region', { name: 'the event' }).getByText(data.id).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await admin.api.post(`/v1/shipments/${data.id}/exceptions`, { type: 'lost' });
    await page.getByText('1 new').waitFor();
    expect(await page.getByRole('button', { name: /Exception opened/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: /Exception opened PO-EVENTS/ }).waitFor();
    await window.openPageAtPath('/settings/events?type=exception.opened');
    await page.getByRole('button', { name: /Exception opened PO-EVENTS/ }).waitFor();
    expect(await page.getByRole('button', { name: /Shipment created/ }).count()).toBe(0);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });
});
