import type { Browser } from 'playwright-core';
import { newAdmin } from '../people.ts';
import { sharedStandalone } from '../subject.ts';
import { newWorkspace } from '../tenant.ts';
import { Window, describeInBrowser, startBrowser } from './browser.ts';

const HEADERS = 'Order no,Mode,POL,POD,ETD,ETA,Container,Carrier,Vessel,House bill,Cost centre';

describeInBrowser('a file to import', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  it('waits for the time zones of its ports, and no row is blamed if they cannot be read', async () => {
    const subject = await sharedStandalone();
    const window = await Window.open(browser, subject, await newAdmin(subject, await newWorkspace(subject, 'zones')));
    const { page } = window;
    let isAway = true;
    await page.route(
      ({ pathname }) => pathname === '/v1/places',
      (route) =>
        isAway
          ? route.fulfill({
              status: 404,
              json: { error: { type: 'not_found', code: 'not_found', message: 'Not now.' } },
            })
          : route.continue(),
    );
    await window.goto('/shipments/import');
    const row = 'IMP-1,ocean,CNSHA,NLRTM,2027-03-01 10:30,2027-04-01,,MAEU,,,';
    const buffer = Buffer.from([HEADERS, row].join('\n'));
    await page.setInputFiles('input[type=file]', { name: 'orders.csv', mimeType: 'text/csv', buffer });
    const failed = page.getByRole('alert').filter({ hasText: 'The time zones of the ports could not be read' });
    await failed.getByText('Not now.').waitFor();
    expect(await page.getByRole('region', { name: 'Errors' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Import/ }).isDisabled()).toBe(true);
    isAway = false;
    await failed.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('1 good shipment, 0 rows with errors').waitFor();
    expect(await page.getByRole('button', { name: 'Import 1 shipment' }).isEnabled()).toBe(true);
    expect(window.complaints).toEqual([]);
    await window.close();
  });
});
