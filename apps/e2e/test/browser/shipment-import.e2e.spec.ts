import { eventually } from '@tracking/testing';
import type { Browser, Page } from 'playwright-core';
import { createSignedInAdmin } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { BrowserWindow, declareBrowserTests, createNotFoundResponse, startBrowser } from './browser.ts';
import { createCsvFile } from './shipment-import.ts';

/**
 * Holds the read of `slow.csv` until `releaseSlow` is called. `slowShown` resolves in the second frame after the page
 * has decoded the file: by then it would show its rows.
 */
const SLOW_READ = `
  const { promise: released, resolve: releaseSlow } = Promise.withResolvers();
  const { promise: slowShown, resolve: resolveShown } = Promise.withResolvers();
  Object.assign(globalThis, { releaseSlow, slowShown, isSlowHeld: false });
  const read = File.prototype.arrayBuffer;
  File.prototype.arrayBuffer = async function () {
    if (this.name === 'slow.csv') {
      globalThis.isSlowHeld = true;
      await released;
    }
    return read.call(this);
  };
  const decode = TextDecoder.prototype.decode;
  TextDecoder.prototype.decode = function (...input) {
    const text = decode.apply(this, input);
    if (text.includes('SLOW-1')) requestAnimationFrame(() => requestAnimationFrame(resolveShown));
    return text;
  };
`;

declareBrowserTests('a file to import', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  /** Opens a page for an admin of a new workspace. */
  async function inNewWorkspace(
    name: string,
    act: (page: Page, window: BrowserWindow) => Promise<void>,
  ): Promise<void> {
    const window = await BrowserWindow.openBrowserWindow(
      browser,
      subject,
      await createSignedInAdmin(subject, await createWorkspace(subject, name)),
    );
    await act(window.page, window);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  }

  const choose = (page: Page, name: string, rows: readonly string[]) =>
    page.setInputFiles('input[type=file]', createCsvFile(name, rows));

  it('waits for the time zones of its ports, and reports no errors of rows if they cannot be read', () =>
    inNewWorkspace('zones', async (page, window) => {
      let isAway = true;
      await page.route(
        ({ pathname }) => pathname === '/v1/places',
        (route) => (isAway ? route.fulfill(createNotFoundResponse('Not now.')) : route.continue()),
      );
      await window.openPageAtPath('/shipments/import');
      await choose(page, 'orders.csv', ['IMP-1,ocean,CNSHA,NLRTM,2027-03-01 10:30,2027-04-01,,MAEU,,,']);
      const failed = page.getByRole('alert').filter({ hasText: 'The time zones of the ports could not be read' });
      await failed.getByText('Not now.').waitFor();
      expect(await page.getByRole('region', { name: 'Errors' }).count()).toBe(0);
      expect(await page.getByRole('button', { name: /^Import/ }).isDisabled()).toBe(true);
      isAway = false;
      await failed.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('1 shipment ready to import, 0 rows with errors').waitFor();
      expect(await page.getByRole('button', { name: 'Import 1 shipment' }).isEnabled()).toBe(true);
    }));

  it('is the file that was chosen last, even if an earlier one is read later', () =>
    inNewWorkspace('files', async (page, window) => {
      await page.addInitScript(SLOW_READ);
      await window.openPageAtPath('/shipments/import');
      await choose(page, 'slow.csv', ['SLOW-1,,,,,,,,,,', 'SLOW-2,,,,,,,,,,']);
      await eventually(async () => expect(await page.evaluate('globalThis.isSlowHeld')).toBe(true));
      await choose(page, 'quick.csv', ['QUICK-1,,,,,,,,,,']);
      await page.getByText('1 shipment ready to import, 0 rows with errors').waitFor();
      await page.evaluate('globalThis.releaseSlow()');
      await page.evaluate('globalThis.slowShown');
      expect(await page.getByText('1 shipment ready to import, 0 rows with errors').count()).toBe(1);
    }));

  it('stays in the list of imports, with the reason, if the browser cannot remove it', () =>
    inNewWorkspace('stuck', async (page, window) => {
      await window.openPageAtPath('/shipments/import');
      await choose(page, 'stuck.csv', ['STUCK-1,,,,,,,,,,']);
      await page.getByRole('button', { name: 'Import 1 shipment' }).click();
      await page.getByText('Finished').waitFor();
      await page.evaluate(`
        globalThis.remove = IDBObjectStore.prototype.delete;
        IDBObjectStore.prototype.delete = () => { throw new Error('The disk is full.'); };
      `);
      const remove = page.getByRole('button', { name: 'Remove import from list' });
      await remove.click();
      await page.getByText('The disk is full.').waitFor();
      expect(await page.getByRole('region', { name: 'Import of stuck.csv' }).count()).toBe(1);
      await page.evaluate('IDBObjectStore.prototype.delete = globalThis.remove');
      await remove.click();
      await page.getByRole('region', { name: 'Import of stuck.csv' }).waitFor({ state: 'detached' });
    }));
});
