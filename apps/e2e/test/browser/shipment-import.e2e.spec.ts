import { eventually } from '@tracking/testing';
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

  it('is the last one that was chosen, though an earlier one is read later', async () => {
    const subject = await sharedStandalone();
    const window = await Window.open(browser, subject, await newAdmin(subject, await newWorkspace(subject, 'files')));
    const { page } = window;
    await page.addInitScript(`
      const read = File.prototype.arrayBuffer;
      File.prototype.arrayBuffer = async function () {
        if (this.name === 'slow.csv') await new Promise((resolve) => (globalThis.release = resolve));
        const bytes = await read.call(this);
        if (this.name === 'slow.csv') setTimeout(() => (globalThis.isSlowRead = true), 100);
        return bytes;
      };
    `);
    await window.goto('/shipments/import');
    const file = (name: string, rows: readonly string[]) => ({
      ...{ name, mimeType: 'text/csv' },
      buffer: Buffer.from([HEADERS, ...rows].join('\n')),
    });
    await page.setInputFiles('input[type=file]', file('slow.csv', ['SLOW-1,,,,,,,,,,', 'SLOW-2,,,,,,,,,,']));
    await eventually(async () => expect(await page.evaluate('typeof globalThis.release')).toBe('function'));
    await page.setInputFiles('input[type=file]', file('quick.csv', ['QUICK-1,,,,,,,,,,']));
    await page.getByText('1 good shipment, 0 rows with errors').waitFor();
    await page.evaluate('globalThis.release()');
    await eventually(async () => expect(await page.evaluate('globalThis.isSlowRead')).toBe(true));
    expect(await page.getByText('1 good shipment, 0 rows with errors').count()).toBe(1);
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it('stays in the list, with the reason, if the browser cannot remove its import', async () => {
    const subject = await sharedStandalone();
    const window = await Window.open(browser, subject, await newAdmin(subject, await newWorkspace(subject, 'stuck')));
    const { page } = window;
    await window.goto('/shipments/import');
    const buffer = Buffer.from([HEADERS, 'STUCK-1,,,,,,,,,,'].join('\n'));
    await page.setInputFiles('input[type=file]', { name: 'stuck.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Import 1 shipment' }).click();
    await page.getByText('Finished').waitFor();
    await page.evaluate(`
      globalThis.remove = IDBObjectStore.prototype.delete;
      IDBObjectStore.prototype.delete = () => { throw new Error('The disk is full.'); };
    `);
    const remove = page.getByRole('button', { name: 'Remove from this list' });
    await remove.click();
    await page.getByText('The disk is full.').waitFor();
    expect(await page.getByRole('region', { name: 'Import of stuck.csv' }).count()).toBe(1);
    await page.evaluate('IDBObjectStore.prototype.delete = globalThis.remove');
    await remove.click();
    await page.getByRole('region', { name: 'Import of stuck.csv' }).waitFor({ state: 'detached' });
    expect(window.complaints).toEqual([]);
    await window.close();
  });
});
