import type { Browser } from 'playwright-core';
import { acceptInvitation, generateEmail, createSignedInAdmin, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { NARROW_BROWSER_WINDOW_SIZE, BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';

const TYPES = ['cargo_damage', 'shortage', 'seal_broken', 'lost', 'freight_hold', 'terminal_hold'] as const;

declareBrowserTests('the exceptions queue', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  let admin: SignedInUser;
  let shipment: string;

  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    const workspace = await createWorkspace(subject, 'queue');
    admin = await createSignedInAdmin(subject, workspace);
  });
  beforeEach(async () => {
    const fields = { mode: 'ocean', origin_port: 'CNSHA', destination_port: 'NLRTM' };
    shipment = await made('/v1/shipments', { ...fields, external_id: `PO-${Math.random().toString(36).slice(2, 8)}` });
  });
  afterAll(async () => {
    await browser?.close();
  });

  async function made(path: string, fields: object): Promise<string> {
    const { status, data } = await admin.api.post<{ id: string }>(path, fields);
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(data)}`);
    return data.id;
  }
  const opened = (type: string, fields: object = {}) =>
    made(`/v1/shipments/${shipment}/exceptions`, { type, ...fields });
  const get = async (id: string) => (await admin.api.get<Record<string, unknown>>(`/v1/exceptions/${id}`)).data;

  it('assigns and resolves several exceptions at once, and retries a failed one', async () => {
    const ids = await Promise.all(TYPES.map((type) => opened(type, { title: `Bulk ${type}` })));
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath('/exceptions');
    await page.getByLabel('Select all loaded exceptions').check();
    await page.getByRole('button', { name: 'Assign…' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (const id of ids) expect(await get(id)).toMatchObject({ status: 'acknowledged', assignee: admin.email });
    await page.getByRole('link', { name: /^Assigned to me/ }).click();
    await page.getByRole('link', { name: 'Bulk lost' }).waitFor();

    await page.getByLabel('Select “Bulk lost”').check();
    await page.getByLabel('Select “Bulk shortage”').check();
    const [broken = ''] = ids.filter((_, at) => TYPES[at] === 'shortage');
    await page.route(`**/v1/exceptions/${broken}/resolve`, (route) =>
      route.fulfill({ status: 400, json: { error: { type: 'invalid_request', code: 'x', message: 'It is away.' } } }),
    );
    await page.getByRole('button', { name: 'Resolve…' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Note').fill('All is found again');
    await dialog.getByRole('button', { name: 'Resolve', exact: true }).click();
    await dialog.getByText('1 of 2 resolved, 1 failed').waitFor();
    await dialog.getByText('Bulk shortage: It is away.').waitFor();
    expect(await get(broken)).toMatchObject({ status: 'acknowledged' });
    await page.unroute(`**/v1/exceptions/${broken}/resolve`);
    await dialog.getByRole('button', { name: 'Retry failed items' }).click();
    await dialog.waitFor({ state: 'detached' });
    const note = 'All is found again';
    expect(await get(broken)).toMatchObject({ status: 'resolved', resolution: { code: 'fixed', note } });
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('can be used with the keyboard only', async () => {
    const first = await opened('lost', { severity: 'critical', title: 'Keys first' });
    const second = await opened('shortage', { severity: 'critical', title: 'Keys second' });
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath('/exceptions?severity=critical&type=lost,shortage&view=unassigned');
    await page.getByRole('link', { name: 'Keys first' }).focus();
    await page.keyboard.press('Enter');
    const pane = page.getByRole('region', { name: 'Exception' });
    await pane.getByRole('heading', { name: 'Keys first' }).waitFor();
    expect(new URL(page.url()).searchParams.get('at')).toBe(first);
    await page.keyboard.press('a');
    await pane.getByText('Acknowledged', { exact: true }).first().waitFor();
    await page.keyboard.press('j');
    await pane.getByRole('heading', { name: 'Keys second' }).waitFor();
    await page.keyboard.press('m');
    await pane.getByText(`You (${admin.email})`).waitFor();
    await page.keyboard.press('r');
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve', exact: true }).click();
    await pane.getByText('Resolved', { exact: true }).first().waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('a:focus').waitFor();
    await page.keyboard.press('Escape');
    await pane.waitFor({ state: 'detached' });
    expect(await get(first)).toMatchObject({ status: 'acknowledged', assignee: null });
    expect(await get(second)).toMatchObject({ status: 'resolved', assignee: admin.email });
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('updates rows in place, and counts new exceptions instead of moving rows', async () => {
    const id = await opened('lost', { severity: 'low', title: 'Live one' });
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath('/exceptions?severity=low');
    const row = page.getByRole('row').filter({ hasText: 'Live one' });
    await row.getByText('Open').waitFor();
    await admin.api.post(`/v1/exceptions/${id}/acknowledge`, { assignee: 'kim@example.com' });
    await row.getByText('kim@example.com').waitFor();
    await row.getByText('Acknowledged').waitFor();
    await opened('shortage', { severity: 'low', title: 'Newer one' });
    await opened('seal_broken', { severity: 'high', title: 'Of another list' });
    await page.getByRole('button', { name: 'Show 1 new' }).click();
    await page.getByRole('link', { name: 'Newer one' }).waitFor();
    await page.getByRole('button', { name: /Show \d+ new/ }).waitFor({ state: 'detached' });
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('still names the shipments of rows that were out of view for a long time', async () => {
    const shipments = Array.from({ length: 50 }, (_, n) => ({ external_id: `LONG-${n}`, mode: 'ocean' }));
    const { data } = await admin.api.post<{ data: { shipment: { id: string } }[] }>('/v1/shipments/bulk', {
      shipments,
    });
    for (const { shipment: made } of data.data)
      await admin.api.post(`/v1/shipments/${made.id}/exceptions`, { type: 'freight_hold', severity: 'low' });
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await page.clock.install();
    await window.openPageAtPath('/exceptions?type=freight_hold&severity=low');
    const row = (index: number) => page.locator(`[data-index="${index}"]`);
    await row(0)
      .getByText(/^LONG-/)
      .waitFor();
    await row(0).getByRole('link').first().focus();
    // The last rows are read with the first ones.
    await page
      .locator('[data-index="0"]')
      .evaluate((element) => element.closest('[role=table]')?.parentElement?.scrollTo(0, 1e6));
    await row(49)
      .getByText(/^LONG-/)
      .waitFor();
    await row(0).waitFor({ state: 'detached' });
    await page.clock.fastForward('10:00');
    await page
      .locator('[data-index="49"]')
      .evaluate((element) => element.closest('[role=table]')?.parentElement?.scrollTo(0, 0));
    await row(0)
      .getByText(/^LONG-/)
      .waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('reports that it may be outdated if severities changed without the event stream', async () => {
    const template = await get(await opened('lost', { severity: 'low', title: 'Template' }));
    const rows = Array.from({ length: 150 }, (_, n) => {
      const id = `exc_${[...String(n).padStart(26, '0')].map((digit) => 'abcdefghij'[Number(digit)]).join('')}`;
      return { ...template, id, title: `Row ${n}` };
    });
    let order: readonly object[] = rows;
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.withholdEventStreamFromPage();
    await page.route(
      ({ pathname }) => pathname === '/v1/exceptions',
      (route) => {
        const isFirst = !new URL(route.request().url()).searchParams.has('cursor');
        const data = isFirst ? order.slice(0, 100) : order.slice(100);
        return route.fulfill({ json: { data, has_more: isFirst, next_cursor: isFirst ? 'next' : null } });
      },
    );
    await window.openPageAtPath('/exceptions');
    const row = (index: number) => page.locator(`[data-index="${index}"]`);
    await row(0).getByRole('link', { name: 'Row 0' }).waitFor();
    order = [{ ...rows.at(-1), severity: 'critical', title: 'Graver' }, ...rows.slice(0, -1)];
    const scrollTo = (index: number) =>
      page.locator('[role=table]').evaluate((table, top) => table.parentElement?.scrollTo(0, top), index * 56);
    for (const index of [90, 140]) {
      await scrollTo(index);
      await row(index).waitFor();
    }
    await page.getByRole('button', { name: 'The list may be outdated. Refresh the list' }).click();
    await scrollTo(0);
    await page.getByRole('link', { name: 'Graver' }).waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('is read-only for users without write permission', async () => {
    await opened('lost', { title: 'To be read' });
    const email = generateEmail('viewer');
    const { data } = await admin.api.post<{ invitation_url: string }>('/v1/users', { email, role: 'viewer' });
    const viewer = await acceptInvitation(subject, data.invitation_url, email);
    const window = await BrowserWindow.openBrowserWindow(browser, subject, viewer, NARROW_BROWSER_WINDOW_SIZE);
    const { page } = window;
    await window.openPageAtPath('/exceptions?type=lost');
    await page.getByText('permission exceptions:write').waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.getByRole('link', { name: 'To be read' }).first().click();
    const pane = page.getByRole('region', { name: 'Exception' });
    await pane.getByRole('heading', { name: 'To be read' }).waitFor();
    expect(await pane.getByRole('button', { name: 'Acknowledge' }).isDisabled()).toBe(true);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });
});
