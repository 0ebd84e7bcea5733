import type { Shipment } from '@tracking/contracts';
import type { Browser } from 'playwright-core';
import { createSignedInAdmin, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import {
  NARROW_BROWSER_WINDOW_SIZE,
  BrowserWindow,
  declareBrowserTests,
  createNotFoundResponse,
  startBrowser,
} from './browser.ts';
import { selectOption, locatePortComboboxOnPage } from './fields.ts';

declareBrowserTests('the shipment form', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  let ann: SignedInUser;
  let bob: SignedInUser;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    const workspace = await createWorkspace(subject, 'forms');
    [ann, bob] = [await createSignedInAdmin(subject, workspace), await createSignedInAdmin(subject, workspace)];
  });
  afterAll(async () => {
    await browser?.close();
  });

  it('creates a shipment with ports by name, local times and errors at the fields', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, ann);
    const { page } = window;
    await window.openPageAtPath('/shipments/new');
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByText('Enter your reference').waitFor();
    await page.getByLabel('Your reference').fill('PO-4711');
    await selectOption(page, page.getByRole('combobox', { name: 'Mode' }), 'Ocean');
    await selectOption(page, page.getByRole('combobox', { name: 'Incoterm' }), 'FOB: free on board');

    // By a part of its name; and by its code, which need only be typed.
    await locatePortComboboxOnPage(page, 'Origin').fill('shangh');
    await page.getByRole('option', { name: /CNSHA/ }).click();
    await locatePortComboboxOnPage(page, 'Destination').fill('nlrtm');
    await locatePortComboboxOnPage(page, 'Destination').press('Tab');
    await page.locator('input[value="Rotterdam, NL · NLRTM"]').waitFor();
    await page.locator('input[value="Shanghai, CN · CNSHA"]').waitFor();
    await page.getByText('Shanghai, UTC+8').waitFor();
    await page.getByLabel('Departure (ETD)').fill('2027-03-01T10:30');
    await page.getByLabel('Arrival (ETA)').fill('2027-04-01T08:00');

    await page.getByRole('combobox', { name: 'Container numbers' }).fill('csqu 305438-4');
    await page.keyboard.press('Enter');
    await page.getByText('the check digit should be 3').waitFor();
    await page.getByLabel('Carrier').fill('MAERSK');
    await page.getByRole('button', { name: 'Add leg' }).click();
    const leg = page.getByRole('group', { name: 'Leg 1', exact: true });
    await leg.getByLabel('Vessel').fill('Maersk Honam');
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByText('Enter a SCAC of two to four letters').waitFor();
    await window.takeScreenshot('form-errors');
    expect(await window.findAccessibilityViolations()).toEqual([]);
    await page.getByLabel('Carrier').first().fill('maeu');
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByRole('heading', { name: 'PO-4711', exact: true }).waitFor();
    await page.getByText('Shipment created. Check these warnings:').waitFor();

    const shipment = await theOne(ann, 'PO-4711');
    expect(shipment).toMatchObject({
      mode: 'ocean',
      incoterm: 'FOB',
      carrier_scac: 'MAEU',
      origin_port: 'CNSHA',
      destination_port: 'NLRTM',
      etd: '2027-03-01T02:30:00.000Z',
      eta: '2027-04-01T06:00:00.000Z',
      container_numbers: ['CSQU3054384'],
      legs: [{ vessel: 'Maersk Honam', origin_port: 'CNSHA' }],
    });

    // A second of the same reference would be a change of the first.
    await window.openPageAtPath('/shipments/new');
    await page.getByLabel('Your reference').fill('PO-4711');
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByRole('link', { name: 'Open the shipment' }).waitFor();
    expect((await theOne(ann, 'PO-4711')).version).toBe(shipment.version);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('selects a typed port on Enter, and is not sent with an unknown port', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, ann);
    const { page } = window;
    await window.openPageAtPath('/shipments/new');
    await page.getByLabel('Your reference').fill('PO-ENTER');
    await locatePortComboboxOnPage(page, 'Origin').fill('DEHAM');
    await locatePortComboboxOnPage(page, 'Origin').press('Enter');
    await page.locator('input[value="Hamburg, DE · DEHAM"]').waitFor();
    await locatePortComboboxOnPage(page, 'Destination').fill('no port at all');
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByText('Choose an entry from the list, or clear the field.').waitFor();
    expect(await locatePortComboboxOnPage(page, 'Destination').inputValue()).toBe('no port at all');
    await window.takeScreenshot('form-untaken-text');
    // A time that is half typed is no time to be sent either.
    await locatePortComboboxOnPage(page, 'Destination').fill('nlrtm');
    await locatePortComboboxOnPage(page, 'Destination').press('Tab');
    await page.locator('input[value="Rotterdam, NL · NLRTM"]').waitFor();
    await page.getByLabel('Arrival (ETA)').fill('2027-04-01T08:00');
    await page.getByLabel('Arrival (ETA)').press('Delete');
    await page.getByRole('button', { name: 'Create shipment' }).click();
    expect(await page.getByLabel('Arrival (ETA)').evaluate((field) => field.matches(':invalid:focus-within'))).toBe(
      true,
    );
    await page.getByLabel('Arrival (ETA)').fill('2027-04-02T08:00');
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByRole('heading', { name: 'PO-ENTER', exact: true }).waitFor();
    expect(await theOne(ann, 'PO-ENTER')).toMatchObject({
      origin_port: 'DEHAM',
      destination_port: 'NLRTM',
      eta: '2027-04-02T06:00:00.000Z',
      version: 1,
    });
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('reports a taken reference even if the existing shipment cannot be read', async () => {
    expect((await ann.api.post('/v1/shipments', { external_id: 'PO-TAKEN', mode: 'ocean' })).status).toBe(201);
    const window = await BrowserWindow.openBrowserWindow(browser, subject, ann);
    const { page } = window;
    await window.openPageAtPath('/shipments/new');
    await page.getByLabel('Your reference').fill('PO-TAKEN');
    await page.route(
      ({ pathname, searchParams }) => pathname === '/v1/shipments' && searchParams.has('external_id'),
      (route) => route.fulfill(createNotFoundResponse('Not now.')),
    );
    await page.getByRole('button', { name: 'Create shipment' }).click();
    await page.getByText('A shipment with this reference already exists.').waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('shows the changes of another user, and lets the later user choose values', async () => {
    const made = { external_id: 'PO-2', mode: 'ocean', booking_number: 'B-1', house_bill: 'H-1', carrier_scac: 'MAEU' };
    const { data } = await ann.api.post<Shipment>('/v1/shipments', made);
    const [one, other] = [
      await BrowserWindow.openBrowserWindow(browser, subject, ann),
      await BrowserWindow.openBrowserWindow(browser, subject, bob, NARROW_BROWSER_WINDOW_SIZE),
    ];
    await Promise.all([
      one.openPageAtPath(`/shipments/${data.id}/edit`),
      other.openPageAtPath(`/shipments/${data.id}/edit`),
    ]);
    await one.page.getByLabel('Booking number').fill('B-ANN');
    await one.page.getByLabel('House bill').fill('H-ANN');
    await other.page.getByLabel('Booking number').fill('B-BOB');
    await other.page.getByLabel('Master bill').fill('M-BOB');
    await one.page.getByRole('button', { name: 'Save' }).click();
    await one.page.getByRole('heading', { name: 'PO-2', exact: true }).waitFor();
    await other.page.getByText('Another user changed this shipment').waitFor();

    await other.page.getByRole('button', { name: 'Save' }).click();
    await other.page.getByRole('heading', { name: 'Ann changed this shipment while you were editing' }).waitFor();
    await other.takeScreenshot('form-conflict');
    expect(await other.findAccessibilityViolations()).toEqual([]);
    await other.page.getByText('Your changes without conflicts: Master bill').waitFor();
    await other.page.getByText('House bill: H-1 → H-ANN').waitFor();
    expect(await other.page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await other.page.getByRole('radio', { name: /Your value: B-BOB/ }).check();
    await other.page.getByRole('button', { name: 'Save' }).click();
    await other.page.getByRole('heading', { name: 'PO-2', exact: true }).waitFor();
    expect(await theOne(ann, 'PO-2')).toMatchObject({
      booking_number: 'B-BOB',
      house_bill: 'H-ANN',
      master_bill: 'M-BOB',
      carrier_scac: 'MAEU',
    });
    expect([...one.complaints, ...other.complaints]).toEqual([]);
    await Promise.all([one.closeBrowserWindow(), other.closeBrowserWindow()]);
  });

  it('saves despite a new milestone, and asks before unsaved changes are discarded', async () => {
    const { data } = await ann.api.post<Shipment>('/v1/shipments', { external_id: 'PO-3', mode: 'ocean' });
    const window = await BrowserWindow.openBrowserWindow(browser, subject, ann);
    const { page } = window;
    await window.openPageAtPath(`/shipments/${data.id}/edit`);
    await page.getByLabel('Booking number').fill('B-3');
    const departure = { code: 'gated_in', occurred_at: '2026-01-02T10:00:00Z' };
    expect((await ann.api.post(`/v1/shipments/${data.id}/milestones`, departure)).status).toBe(201);
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'PO-3', exact: true }).waitFor();
    expect(await theOne(ann, 'PO-3')).toMatchObject({ booking_number: 'B-3', status: 'at_origin' });
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });
});

async function theOne({ api }: SignedInUser, external_id: string): Promise<Shipment> {
  const { data } = await api.get<{ data: Shipment[] }>('/v1/shipments', { params: { external_id } });
  const [shipment] = data.data;
  if (shipment === undefined || data.data.length > 1) throw new Error(`${data.data.length} of ${external_id}`);
  return shipment;
}
