import { readFile } from 'node:fs/promises';
import type { Shipment } from '@tracking/client';
import type { Browser, Page } from 'playwright-core';
import { createSignedInAdmin, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { listAllItems, createWorkspace } from '../tenant.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';

/** More than two pages of the API. */
const COUNT = 250;

declareBrowserTests('the shipment list', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  let admin: SignedInUser;
  let window: BrowserWindow;
  let page: Page;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    const workspace = await createWorkspace(subject, 'list');
    admin = await createSignedInAdmin(subject, workspace);
    const shipments = Array.from({ length: COUNT }, (_, n) => ({
      external_id: `PO-${1_000 + n}`,
      mode: n % 2 === 0 ? 'ocean' : 'air',
      origin_port: 'CNSHA',
      destination_port: n % 2 === 0 ? 'NLRTM' : 'DEHAM',
      eta: new Date(Date.UTC(2027, 0, 1, n)).toISOString(),
    }));
    const { status } = await admin.api.post('/v1/shipments/bulk', { shipments });
    if (status >= 300) throw new Error(`not made: ${status}`);
  });
  afterAll(async () => {
    await browser?.close();
  });
  beforeEach(async () => {
    window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    page = window.page;
  });
  afterEach(async () => {
    const { complaints } = window;
    await window.closeBrowserWindow();
    expect(complaints).toEqual([]);
  });

  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
  /** Simulates that the user leaves the tab or returns to it. */
  const turn = (where: 'out of sight' | 'into sight') =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${where === 'out of sight'}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`,
    );
  const shipmentOf = async (name: string): Promise<Shipment> => {
    const { data } = await admin.api.get<{ data: Shipment[] }>('/v1/shipments', { params: { external_id: name } });
    const [found] = data.data;
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  };

  it('can be navigated and opened by keys, up to the last row', async () => {
    await window.openPageAtPath('/shipments?sort=eta');
    await row('PO-1000').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.locator(':focus', { hasText: /^PO-1001$/ }).waitFor();
    await page.keyboard.press('k');
    await page.locator(':focus', { hasText: /^PO-1000$/ }).waitFor();
    await page.keyboard.press('End');
    await page.getByText(`${COUNT} shipments`).or(page.getByText('200+ shipments')).first().waitFor();
    await page.keyboard.press('End');
    await page.getByText(`${COUNT} shipments`).waitFor();
    await page.keyboard.press('End');
    await page.locator(':focus', { hasText: 'PO-1249' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'PO-1249' }).waitFor();
  });

  it('updates changed rows in place, and adds new rows on request', async () => {
    await window.openPageAtPath('/shipments?sort=eta');
    await row('PO-1003').getByText('Pending').waitFor();
    const { y: before } = (await row('PO-1003').boundingBox()) ?? {};
    const { id } = await shipmentOf('PO-1003');
    const departed = { code: 'vessel_departed', occurred_at: '2026-11-02T10:30:00Z', location: 'CNSHA' };
    expect((await admin.api.post(`/v1/shipments/${id}/milestones`, departed)).status).toBe(201);
    await row('PO-1003').getByText('In transit').waitFor();

    const first = { external_id: 'PO-0001', mode: 'ocean', eta: '2026-12-31T00:00:00Z' };
    expect((await admin.api.post('/v1/shipments', first)).status).toBe(201);
    const show = page.getByRole('button', { name: /1 new/ });
    await show.waitFor();
    expect(await row('PO-0001').count()).toBe(0);
    expect((await row('PO-1003').boundingBox())?.y).toBe(before);
    await show.click();
    await row('PO-0001').waitFor();
    await show.waitFor({ state: 'detached' });
  });

  it('closes the event stream while hidden, and catches up when visible again', async () => {
    const isConnected = page.waitForResponse('**/v1/events/stream*');
    await window.openPageAtPath('/shipments?sort=eta');
    await row('PO-1005').getByText('Pending').waitFor();
    await isConnected;
    const isGivenBack = page.waitForEvent('requestfailed', (request) => request.url().includes('/events/stream'));
    await turn('out of sight');
    await isGivenBack;
    const { id } = await shipmentOf('PO-1005');
    const departed = { code: 'flight_departed', occurred_at: '2026-11-02T10:30:00Z', location: 'CNSHA' };
    expect((await admin.api.post(`/v1/shipments/${id}/milestones`, departed)).status).toBe(201);
    expect(await row('PO-1005').getByText('Pending').count()).toBe(1);
    await turn('into sight');
    await row('PO-1005').getByText('In transit').waitFor();
    expect(await page.getByText('connection was lost').count()).toBe(0);
  });

  it('of shipments with exceptions reports a new match after an exception opens', async () => {
    const opened = async (name: string) => {
      const { id } = await shipmentOf(name);
      const { status } = await admin.api.post(`/v1/shipments/${id}/exceptions`, { type: 'other', title: 'Ask them' });
      expect(status).toBe(201);
    };
    await opened('PO-1010');
    await window.openPageAtPath('/shipments?has_open_exceptions=true&q=po-101');
    await row('PO-1010').waitFor();
    await opened('PO-1011');
    await page.getByRole('button', { name: /1 new/ }).click();
    await row('PO-1011').waitFor();
  });

  it('searches while the user types, filters by port name, and saves a view', async () => {
    await window.openPageAtPath('/shipments');
    await page.keyboard.press('/');
    await page.keyboard.type('po-110');
    await page.getByText('10 shipments').waitFor();
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('Destination', { exact: true }).fill('rotter');
    await page.getByRole('option', { name: /Rotterdam, NL/ }).click();
    await drawer.getByRole('button', { name: 'Apply filters' }).click();
    await page.getByText('5 shipments').waitFor();
    expect(page.url()).toContain('destination_port=NLRTM');

    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('To Rotterdam');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const views = page.getByRole('navigation', { name: 'Views' });
    await views.getByRole('link', { name: 'All shipments' }).click();
    await page.getByText('100+ shipments').waitFor();
    await window.openPageAtPath('/shipments');
    await views.getByRole('link', { name: 'To Rotterdam' }).click();
    await page.getByText('5 shipments').waitFor();
  });

  it('exports, opens exceptions on and cancels several selected shipments', async () => {
    await window.openPageAtPath('/shipments?q=po-120&sort=eta');
    await row('PO-1200').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('Shift+J');
    await page.getByText('2 selected').waitFor();
    const bar = page.getByLabel('Actions for selected shipments');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      bar.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(lines.map((line) => line.split(',')[1])).toEqual(['external_id', 'PO-1200', 'PO-1201']);

    await bar.getByRole('button', { name: 'Open exception…' }).click();
    await page.getByRole('dialog').getByLabel('Title').fill('Seals are to be looked at');
    await page.getByRole('dialog').getByRole('button', { name: 'Open 2 exceptions' }).click();
    await row('PO-1201').getByText('1 open').waitFor();

    await page.getByLabel('Select PO-1202').check();
    await page.getByLabel('Select PO-1203').check();
    await bar.getByRole('button', { name: 'Cancel shipments…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 2 shipments' }).click();
    await row('PO-1203').getByText('Cancelled').waitFor();
    expect((await shipmentOf('PO-1202')).status).toBe('cancelled');
    expect((await shipmentOf('PO-1200')).status).toBe('pending');
  });

  it('filters by a typed port on Enter', async () => {
    await window.openPageAtPath('/shipments?sort=eta');
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    const to = page.getByRole('dialog').getByLabel('Destination', { exact: true });
    await to.fill('DEHAM');
    await to.press('Enter');
    await page.locator('input[value="Hamburg, DE · DEHAM"]').waitFor();
    await window.takeScreenshot('list-filters-typed');
    await to.press('Enter');
    await page.waitForURL(/destination_port=DEHAM/);
  });

  it('and other lists filter by typed dates and times', async () => {
    await window.openPageAtPath('/shipments?q=po-10&sort=eta');
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByRole('dialog').getByLabel('ETA until').focus();
    // The same in each order of day and month.
    await page.keyboard.type('01012027');
    await page.keyboard.press('Enter');
    await page.getByText('23 shipments').waitFor();
    expect(new URL(page.url()).searchParams.get('eta_to')).toBe('2027-01-01');

    await window.openPageAtPath('/settings/audit-log');
    await page.getByLabel('From').focus();
    await page.keyboard.type('12122026');
    await page.waitForURL(/from=2026-12-12/);
    expect(await page.getByLabel('From').inputValue()).toBe('2026-12-12');

    await window.openPageAtPath('/settings/webhooks/deliveries');
    await page.getByLabel('From').focus();
    await page.keyboard.type('12122026');
    await page.keyboard.type('1030AM');
    await page.waitForURL(/since=2026-12-12T09(:|%3A)30/);
    expect(await page.getByLabel('From').inputValue()).toBe('2026-12-12T10:30');
  });

  it('asks before a bulk action is stopped, and reports the result of each item', async () => {
    await window.openPageAtPath('/shipments?q=po-123&sort=eta');
    await row('PO-1230').waitFor();
    for (let n = 1230; n < 1236; n += 1) await page.getByLabel(`Select PO-${n}`).check();
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    await page.route('**/v1/shipments/*/cancel', async (route) => {
      begun += 1;
      const isRefused = begun === 2;
      await gate.promise;
      const json = { error: { type: 'conflict', code: 'x', message: 'It was delivered.' } };
      await (isRefused ? route.fulfill({ status: 409, json }) : route.continue());
    });
    await page.getByLabel('Actions for selected shipments').getByRole('button', { name: 'Cancel shipments…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Cancel 6 shipments' }).click();
    await dialog.getByText('0 of 6').waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByText('Stop the operation?').waitFor();
    await window.takeScreenshot('list-several-stop');
    await dialog.getByRole('button', { name: 'Stop' }).click();
    gate.resolve();
    await dialog.getByText('3 of 6 cancelled, 1 failed, 2 not started').waitFor();
    await dialog.getByText('It was delivered.').waitFor();
    expect(begun).toBe(4);
    await window.takeScreenshot('list-several-stopped');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('3 selected').waitFor();
  });

  it('exports all rows while some of them change', async () => {
    await window.openPageAtPath('/shipments?sort=-updated_at');
    await page.getByText('100+ shipments').waitFor();
    const whole = await listAllItems<Shipment>(admin.api, '/v1/shipments', { sort: '-updated_at' });
    let pages = 0;
    await page.route(
      (url) => url.pathname === '/v1/shipments' && url.searchParams.get('limit') === '200',
      async (route) => {
        pages += 1;
        const answer = await route.fetch();
        // Rows of the second page move to the first, after that was read.
        const moved = pages === 1 ? whole.slice(-5) : [];
        for (const { id } of moved) await admin.api.patch(`/v1/shipments/${id}`, { booking_number: 'B-1' });
        await route.fulfill({ response: answer });
      },
    );
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n').slice(1);
    expect(pages).toBe(2);
    expect(lines.map((line) => line.split(',')[0]).toSorted()).toEqual(whole.map(({ id }) => id).toSorted());
  });

  it('shows and selects no rows of the previous environment while the other one loads', async () => {
    await window.openPageAtPath('/shipments');
    const boxes = page.getByRole('checkbox', { name: /^Select PO-/ });
    await boxes.first().check();
    await page.getByText('1 selected').waitFor();
    const gate = Promise.withResolvers<void>();
    await page.route('**/v1/shipments?*', async (route) => {
      await gate.promise;
      await route.continue();
    });
    const environment = page.getByRole('radiogroup', { name: 'Environment' });
    await environment.getByText('Test').click();
    await page.getByLabel('Loading shipments').waitFor();
    expect(await boxes.count()).toBe(0);
    await page.getByText('1 selected').waitFor({ state: 'detached' });
    await window.takeScreenshot('list-other-environment');
    gate.resolve();
    await page.getByText('No shipments yet').waitFor();
    await environment.getByText('Live').click();
    await boxes.first().waitFor();
    expect(await boxes.first().isChecked()).toBe(false);
  });

  it('receives no further shipments of an import that was cancelled in another tab', async () => {
    await window.openPageAtPath('/shipments/import');
    const buffer = Buffer.from(
      ['Order no,Mode', ...Array.from({ length: 250 }, (_, n) => `IMP-${n},ocean`)].join('\n'),
    );
    await page.setInputFiles('input[type=file]', { name: 'orders.csv', mimeType: 'text/csv', buffer });
    const gate = Promise.withResolvers<void>();
    let batches = 0;
    await page.route('**/v1/shipments/bulk', async (route) => {
      batches += 1;
      if (batches === 2) await gate.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Import 250 shipments' }).click();
    await page.getByText('100 of 250 shipments sent').waitFor();

    const other = await window.context.newPage();
    await other.goto(page.url());
    await other.getByRole('button', { name: 'Continue' }).click();
    await other.getByText('This import is running in another tab.').waitFor();
    await other.getByRole('button', { name: 'Pause' }).click();
    await other.getByRole('button', { name: 'Cancel import' }).click();
    await other.getByRole('region', { name: 'Import of orders.csv' }).waitFor({ state: 'detached' });

    gate.resolve();
    await page.getByText('This import was cancelled in another tab.').waitFor();
    await window.takeScreenshot('import-given-up');
    expect(await page.getByText('Finished', { exact: true }).count()).toBe(0);
    expect(batches).toBe(2);
    await other.reload();
    await other
      .getByText('Drop a CSV file here')
      .or(other.locator('input[type=file]'))
      .first()
      .waitFor({ state: 'attached' });
    expect(await other.getByRole('region', { name: 'Import of orders.csv' }).count()).toBe(0);
  });
});
