import type { AxiosInstance } from 'axios';
import type { Browser } from 'playwright-core';
import { createSignedInAdmin, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { BrowserWindow, startBrowser, declareBrowserTests, WIDE_BROWSER_WINDOW_SIZE } from './browser.ts';

interface Milestone {
  readonly id: string;
  readonly code: string;
  readonly note: string | null;
  readonly retracted_at: string | null;
}
interface Milestones {
  readonly data: readonly Milestone[];
}

const DAY = 86_400_000;
const CONTAINER = 'MSKU1234565';
/** Formats a date as pages show it. */
const formatDay = (date: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(date));
const day = (days: number) => new Date(Math.floor(Date.now() / DAY) * DAY + days * DAY + DAY / 3).toISOString();

/** A shipment by way of Algeciras, on its way, whose arrival has moved twice. */
async function sail(api: AxiosInstance, external_id: string): Promise<string> {
  const ports = { origin_port: 'CNSHA', destination_port: 'NLRTM', etd: day(-30), eta: day(4) };
  const legs = [
    { mode: 'ocean', vessel: 'Maersk Semarang', voyage: '644W', origin_port: 'CNSHA', destination_port: 'ESALG' },
    { mode: 'ocean', vessel: 'Madrid Maersk', voyage: '646W', origin_port: 'ESALG', destination_port: 'NLRTM' },
  ];
  const parties = { shipper: { name: 'Acme Components Ltd', external_id: 'ACME' }, consignee: { name: 'Widget B.V.' } };
  const { data, status } = await api.post<{ id: string }>('/v1/shipments', {
    ...{ external_id, mode: 'ocean', load_type: 'fcl', house_bill: 'SHRT2611001', carrier_scac: 'MAEU' },
    ...{ ...ports, ...parties, legs, container_numbers: [CONTAINER, 'CSQU3054383'] },
    references: [{ type: 'purchase_order', value: 'PO-88213' }],
  });
  if (status !== 201) throw new Error(`not made: ${status} ${JSON.stringify(data)}`);
  const post = async (body: object) => {
    const answer = await api.post(`/v1/shipments/${data.id}/milestones`, body);
    if (answer.status !== 201) throw new Error(`not recorded: ${answer.status} ${JSON.stringify(answer.data)}`);
  };
  const at = (code: string, days: number, location: string, more: object = {}) =>
    post({ code, occurred_at: day(days), location, ...more });
  await at('booking_confirmed', -40, 'CNSHA');
  await at('vessel_departed', -30, 'CNSHA', { classifier: 'planned' });
  await at('gated_in', -32, 'CNSHA', { container_number: CONTAINER });
  await at('vessel_departed', -29, 'CNSHA', { vessel: 'Maersk Semarang', voyage: '644W' });
  await at('vessel_arrived', 5, 'NLRTM', { classifier: 'estimated', reason_code: 'weather' });
  await at('vessel_arrived', 7, 'NLRTM', {
    classifier: 'estimated',
    source: 'carrier',
    reason_code: 'port_congestion',
  });
  await api.patch(`/v1/shipments/${data.id}/containers/${CONTAINER}`, { last_free_day: day(1).slice(0, 10) });
  return data.id;
}

declareBrowserTests('the shipment page', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  let admin: SignedInUser;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    const workspace = await createWorkspace(subject, 'shipment-page');
    admin = await createSignedInAdmin(subject, workspace);
  });
  afterAll(async () => {
    await browser?.close();
  });

  const findException = async (shipment: string, type: string): Promise<string | undefined> => {
    const { data } = await admin.api.get<{ data: { id: string; type: string }[] }>(
      `/v1/shipments/${shipment}/exceptions`,
    );
    return data.data.find((exception) => exception.type === type)?.id;
  };

  it('shows a milestone from the API without a reload', async () => {
    const id = await sail(admin.api, 'PO-LIVE');
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath(`/shipments/${id}/timeline`);
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByRole('rowheader', { name: 'Vessel departed' }).waitFor();
    const arrived = { code: 'vessel_arrived', occurred_at: day(-1), location: 'NLRTM', source: 'carrier' };
    expect((await admin.api.post(`/v1/shipments/${id}/milestones`, arrived)).status).toBe(201);
    const status = page.getByRole('region', { name: 'Status' });
    await status.getByText('Arrived', { exact: true }).waitFor();
    await status.getByRole('link', { name: 'Vessel arrived' }).waitFor();
    await page.getByRole('link', { name: 'Open Vessel arrived (actual)' }).waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('shows changes between the first read and the first event', async () => {
    const id = await sail(admin.api, 'PO-BETWEEN');
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    const gate = Promise.withResolvers<void>();
    await page.route('**/v1/events/stream', async (route) => {
      await gate.promise;
      await route.continue();
    });
    await window.openPageAtPath(`/shipments/${id}/timeline`);
    const status = page.getByRole('region', { name: 'Status' });
    await status.getByText('In transit', { exact: true }).waitFor();
    const arrived = { code: 'vessel_arrived', occurred_at: day(-1), location: 'NLRTM', source: 'carrier' };
    expect((await admin.api.post(`/v1/shipments/${id}/milestones`, arrived)).status).toBe(201);
    gate.resolve();
    await status.getByText('Arrived', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Open Vessel arrived (actual)' }).waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('records, corrects and retracts a milestone', async () => {
    const id = await sail(admin.api, 'PO-WRITE');
    const of = async () =>
      (await admin.api.get<Milestones>(`/v1/shipments/${id}/milestones?include_retracted=true`)).data;
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath(`/shipments/${id}/timeline`);

    await page.getByRole('button', { name: 'Record milestone' }).click();
    const form = page.getByRole('dialog', { name: 'Record milestone' });
    await form.getByRole('combobox', { name: 'Milestone' }).click();
    await page.getByRole('option', { name: 'Discharged', exact: true }).click();
    await form.getByLabel('Location').fill('NLRTM');
    // An invalid time does not clear the other fields.
    await form.getByLabel(/^Time(?! zone)/).fill('20261-01-01T10:00');
    expect(await form.getByLabel('Location').inputValue()).toBe('NLRTM');
    await form.getByLabel(/^Time(?! zone)/).fill('2999-01-01T10:00');
    await form.getByRole('button', { name: 'Record milestone' }).click();
    // The field that the service refuses says why.
    await form
      .getByText(/future/)
      .first()
      .waitFor();
    await form.getByLabel(/^Time(?! zone)/).fill(`${day(-1).slice(0, 10)}T10:00`);
    await form.getByRole('button', { name: 'Record milestone' }).click();
    await form.waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Open Discharged (actual)' }).click();
    const drawer = page.getByRole('dialog', { name: 'Milestone details' });
    await drawer.getByRole('button', { name: 'Correct…' }).click();
    const correction = page.getByRole('dialog', { name: 'Correct milestone' });
    await correction.getByLabel('Vessel').fill('Marit Maersk');
    // Another user records another milestone first, which is no conflict.
    await admin.api.post(`/v1/shipments/${id}/milestones`, { code: 'gated_out', occurred_at: day(-0.5) });
    await correction.getByRole('button', { name: 'Save correction' }).click();
    await correction.waitFor({ state: 'detached' });
    await drawer.getByText(/^Corrected by Ann/).waitFor();
    const { data } = await of();
    const recorded = data.find(({ code }) => code === 'discharged');
    expect(recorded).toMatchObject({ vessel: 'Marit Maersk', location: 'NLRTM', revision: 2, source: 'manual' });

    // Another user corrects the same milestone: nothing is written until this user chooses.
    await drawer.getByRole('button', { name: 'Correct…' }).click();
    await correction.getByLabel('Note').fill('Confirmed by the agent');
    const url = `/v1/shipments/${id}/milestones/${recorded?.id}`;
    await admin.api.patch(url, { voyage: '647W' });
    await correction.getByRole('button', { name: 'Save correction' }).click();
    await correction.getByText('Another user changed the milestone').waitFor();
    await correction.getByRole('cell', { name: '647W' }).waitFor();
    expect((await admin.api.get<Milestone>(url)).data.note).toBeNull();
    await correction.getByRole('button', { name: 'Save my changes' }).click();
    await correction.waitFor({ state: 'detached' });
    expect((await admin.api.get<Milestone>(url)).data).toMatchObject({
      voyage: '647W',
      note: 'Confirmed by the agent',
    });

    await drawer.getByRole('button', { name: 'Retract…' }).click();
    await page.getByRole('button', { name: 'Retract', exact: true }).click();
    await drawer.getByText('The milestone has no effect').waitFor();
    expect((await admin.api.get<Milestone>(url)).data.retracted_at).not.toBeNull();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('records a milestone whose code was typed and not picked', async () => {
    const id = await sail(admin.api, 'PO-TYPED');
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath(`/shipments/${id}/timeline`);
    await page.getByRole('button', { name: 'Record milestone' }).click();
    const form = page.getByRole('dialog', { name: 'Record milestone' });
    await form.getByRole('combobox', { name: 'Milestone' }).fill('discharged');
    await form.getByRole('combobox', { name: 'Milestone' }).press('Enter');
    const reason = form.getByRole('combobox', { name: 'Reason' });
    await reason.fill('congest');
    await reason.press('Enter');
    await form.getByText('Choose an entry from the list, or clear the field.').waitFor();
    await reason.fill('port congest');
    await reason.press('Enter');
    expect(await reason.inputValue()).toBe('Port congestion');
    await reason.press('Enter');
    await form.waitFor({ state: 'detached' });
    const { data } = (await admin.api.get<Milestones>(`/v1/shipments/${id}/milestones`)).data;
    expect(data.filter(({ code }) => code === 'discharged')).toMatchObject([{ reason_code: 'port_congestion' }]);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('shows the time left to return a delivered container whose gate-out was never reported', async () => {
    const id = await sail(admin.api, 'PO-DELIVERED');
    const container = { last_free_day: day(-5).slice(0, 10), empty_return_by: day(3).slice(0, 10) };
    await admin.api.patch(`/v1/shipments/${id}/containers/${CONTAINER}`, container);
    const delivered = { code: 'delivered', occurred_at: day(-1), location: 'NLRTM', container_number: CONTAINER };
    expect((await admin.api.post(`/v1/shipments/${id}/milestones`, delivered)).status).toBe(201);
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    await window.openPageAtPath(`/shipments/${id}`);
    const row = window.page.getByRole('row').filter({ hasText: CONTAINER });
    await row.getByText('free time until empty return').waitFor();
    expect(await row.getByText('at the terminal').count()).toBe(0);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('shows the error of a rejected milestone even if the form lacks the field', async () => {
    const { data } = await admin.api.post<{ id: string }>('/v1/shipments', { external_id: 'PO-FIELD', mode: 'ocean' });
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await page.route('**/v1/shipments/*/milestones', (route) => {
      const details = [{ param: 'leg_number', code: 'invalid', message: 'There is no such leg.' }];
      const error = { type: 'invalid_request', code: 'validation_failed', message: 'Not valid.', details };
      return route.request().method() === 'POST' ? route.fulfill({ status: 400, json: { error } }) : route.continue();
    });
    await window.openPageAtPath(`/shipments/${data.id}`);
    await page.getByRole('button', { name: 'Record milestone' }).click();
    const form = page.getByRole('dialog', { name: 'Record milestone' });
    await form.getByRole('combobox', { name: 'Milestone' }).fill('discharged');
    await form.getByRole('combobox', { name: 'Milestone' }).press('Enter');
    await form.getByRole('button', { name: 'Record milestone' }).click();
    await form.getByRole('alert').getByText('leg_number: There is no such leg.').waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('copies without the clipboard API, and reports if the browser refuses to copy', async () => {
    const { data } = await admin.api.post<{ id: string }>('/v1/shipments', { external_id: 'PO-COPY' });
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await page.addInitScript("Clipboard.prototype.writeText = () => Promise.reject(new Error('refused'))");
    await page.addInitScript("addEventListener('copy', () => (globalThis.copiedText = String(getSelection())))");
    await page.clock.install();
    await window.openPageAtPath(`/shipments/${data.id}/calls`);
    const copy = page.getByRole('button', { name: 'Copy the JSON' });
    const notCopied = page.getByText('The browser does not allow this page to copy.');
    // The button shows "Copied" for a second only.
    await page.clock.pauseAt(Date.now() + 60_000);
    await copy.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('globalThis.copiedText')).toContain('"external_id": "PO-COPY"');
    await page.clock.resume();
    await copy.waitFor();
    expect(await notCopied.count()).toBe(0);

    await page.evaluate('document.execCommand = () => false');
    await copy.click();
    await notCopied.waitFor();
    // As on a page that is not served over HTTPS.
    await page.evaluate('delete Navigator.prototype.clipboard');
    await copy.click();
    await notCopied.nth(1).waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it.each([
    ['UTC−8', 'Etc/GMT+8'],
    ['UTC+13', 'Etc/GMT-13'],
  ])('shows reported days as they were reported to a user at %s', async (_, timezone) => {
    const external_id = `PO-DAYS-${timezone}`;
    // Three days ago: the departure is overdue.
    const [etd, gatedIn] = [day(-3).slice(0, 10), day(-6).slice(0, 10)];
    const route = { origin_port: 'CNSHA', destination_port: 'NZAKL', etd, eta: '2027-04-01' };
    const { data, status } = await admin.api.post<{ id: string }>('/v1/shipments', {
      ...{ external_id, mode: 'ocean', ...route },
    });
    expect(status).toBe(201);
    const arrival = { code: 'vessel_arrived', classifier: 'estimated', location: 'NZAKL', occurred_at: '2027-04-03' };
    const entry = { code: 'gated_in', classifier: 'planned', location: 'CNSHA', occurred_at: gatedIn };
    for (const milestone of [arrival, entry])
      expect((await admin.api.post(`/v1/shipments/${data.id}/milestones`, milestone)).status).toBe(201);
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin, WIDE_BROWSER_WINDOW_SIZE, timezone);
    const { page } = window;

    await window.openPageAtPath(`/shipments?q=${external_id}`);
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: external_id, exact: true }) });
    await row.getByText('3 Apr 2027', { exact: true }).waitFor();
    await window.openPageAtPath(`/shipments/${data.id}`);
    const facts = page.getByRole('main');
    await facts.getByText('3 Apr 2027', { exact: true }).first().waitFor();
    await facts.getByText(formatDay(etd), { exact: true }).first().waitFor();
    await window.openPageAtPath(`/shipments/${data.id}/timeline`);
    await page
      .getByRole('row')
      .filter({ hasText: 'Gated in' })
      .getByText(formatDay(gatedIn), { exact: true })
      .waitFor();
    await page.getByRole('row').filter({ hasText: 'Vessel arrived' }).getByText('3 Apr 2027').first().waitFor();

    for (const [type, ...days] of [
      ['departure_overdue', etd],
      ['eta_slip', '2027-04-01', '2027-04-03'],
    ] as const) {
      await window.openPageAtPath(`/exceptions?at=${await findException(data.id, type)}`);
      const pane = page.getByRole('region', { name: 'Exception' });
      for (const date of days) await pane.getByText(formatDay(date), { exact: true }).first().waitFor();
    }

    // The days at the former destination keep the calendar of that port.
    const moved = { destination_port: 'NLRTM', eta: '2027-05-20' };
    expect((await admin.api.patch(`/v1/shipments/${data.id}`, moved)).status).toBe(200);
    await window.openPageAtPath(`/shipments/${data.id}/history`);
    const history = page.getByRole('list', { name: 'History' });
    await history.getByText(`recorded “Gated in” (planned) at CNSHA for ${formatDay(gatedIn)}`).waitFor();
    await history.getByText('recorded “Vessel arrived” (estimated) at NZAKL for 3 Apr 2027').waitFor();
    await history.getByText('3 Apr 2027', { exact: true }).first().waitFor();
    const text = (await history.allInnerTexts()).join(' ');
    expect(text).toContain('1 Apr 2027');
    for (const reported of [etd, gatedIn, '2027-04-01', '2027-04-03', '2027-05-20']) {
      for (const days of [-1, 1]) {
        const other = new Date(Date.parse(reported) + days * DAY).toISOString();
        expect(text).not.toMatch(new RegExp(`\\b${formatDay(other)}`));
      }
    }
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('reports an unknown shipment', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    await window.openPageAtPath('/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa');
    await window.page.getByText('Shipment not found').waitFor();
    await window.closeBrowserWindow();
  });
});
