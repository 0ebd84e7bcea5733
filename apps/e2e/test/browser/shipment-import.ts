import { readFile } from 'node:fs/promises';
import type { Shipment } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import { createSignedInAdmin } from '../people.ts';
import { listAllItems, createWorkspace } from '../tenant.ts';
import type { BrowserJourneyTestDefinition } from './browser-test-harness.ts';
import { BrowserWindow } from './browser.ts';

const IMPORTED_ROW_COUNT = 2_000;
const CSV_HEADER_LINE = 'Order no,Mode,POL,POD,ETD,ETA,Container,Carrier,Vessel,House bill,Cost centre';
/** Positions of faulty rows within each group of 200 rows. */
const FAULTY_IMPORT_ROWS = [
  // Errors that the page finds before it sends anything
  { at: 50, mode: 'balloon', bill: '' },
  { at: 100, mode: 'ocean', bill: '', eta: '2027-02-30' },
  // Errors that only the API finds
  { at: 150, mode: 'ocean', bill: 'H'.repeat(1_001) },
];

/** Creates a CSV file that a test can select in a page. */
export function createCsvFile(name: string, rows: readonly string[]) {
  return { name, mimeType: 'text/csv', buffer: Buffer.from([CSV_HEADER_LINE, ...rows].join('\n')) };
}

function generateCsvRows(): readonly string[] {
  return Array.from({ length: IMPORTED_ROW_COUNT }, (_, index) => {
    const { mode, bill, eta } = {
      eta: '2027-04-01',
      ...(FAULTY_IMPORT_ROWS.find(({ at }) => (index + 1) % 200 === at) ?? { mode: 'ocean', bill: '' }),
    };
    return `IMP-${index + 1},${mode},CNSHA,nl rtm,2027-03-01 10:30,${eta},,MAEU,"Honam, Maersk",${bill},4711`;
  });
}

export const shipmentImportBrowserTests: BrowserJourneyTestDefinition = {
  name: 'an import',
  tests: (harness) => {
    it(
      'an import of 2,000 rows with 30 faulty ones continues after its tab was closed, and creates no shipment twice',
      async () => {
        const { subject, browser } = harness();
        const workspace = await createWorkspace(subject, 'imports');
        const ann = await createSignedInAdmin(subject, workspace);
        const window = await BrowserWindow.openBrowserWindow(browser, subject, ann);
        const { page } = window;
        await window.openPageAtPath('/shipments/import');
        await page.setInputFiles('input[type=file]', createCsvFile('orders.csv', generateCsvRows()));
        await page.getByText('1,980 shipments ready to import, 20 rows with errors').waitFor();
        await page.getByRole('combobox', { name: 'Field for column “Cost centre”' }).click();
        await page.getByRole('option', { name: 'Custom fields' }).click();
        await window.takeScreenshot('import-check');
        expect(await window.findAccessibilityViolations()).toEqual([]);

        // The service stores the sixth batch, but the tab does not receive the response.
        let batches = 0;
        const lost = Promise.withResolvers<void>();
        await page.route('**/v1/shipments/bulk', async (route) => {
          batches += 1;
          if (batches < 6) return route.continue();
          await route.fetch();
          lost.resolve();
        });
        await page.getByRole('button', { name: 'Import 1,980 shipments' }).click();
        await lost.promise;
        await page.close();
        expect(window.complaints).toEqual([]);

        const later = await window.context.newPage();
        await later.goto(`${subject.urls[0]}/shipments/import`);
        await later.getByText('500 of 1,980 shipments sent').waitFor();
        await later.getByRole('button', { name: 'Continue' }).click();
        await later.getByText('Finished').waitFor({ timeout: scaleTimeout(120_000) });
        await later.getByText('1,980 of 1,980 shipments sent: 1,970 created, 0 updated, 30 rows skipped.').waitFor();

        // The gateway that responds may lag behind the gateway that stored the shipments.
        const shipments = await eventually(async () => {
          const found = await listAllItems<Shipment>(ann.api, '/v1/shipments');
          expect(found).toHaveLength(1_970);
          return found;
        });
        expect(new Set(shipments.map(({ external_id }) => external_id)).size).toBe(1_970);
        const [first] = await listAllItems<Shipment>(ann.api, '/v1/shipments', { external_id: 'IMP-1' });
        expect(first).toMatchObject({
          etd: '2027-03-01T02:30:00.000Z',
          // The file has a date without a time: the whole day in Rotterdam.
          eta: '2027-04-01T21:59:59.999Z',
          eta_precision: 'day',
          destination_port: 'NLRTM',
          metadata: { 'Cost centre': '4711' },
          legs: [{ vessel: 'Honam, Maersk' }],
        });

        const downloading = later.waitForEvent('download');
        await later.getByRole('button', { name: 'Download rows with errors' }).click();
        const lines = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\r\n');
        expect(lines).toHaveLength(31);
        expect(lines[0]).toMatch(/^\uFEFF?Order no,.*,Row,Error$/);
        expect(lines[1]).toMatch(/^IMP-50,balloon,.*,51,"?Mode “balloon” is not a mode/);
        expect(lines[3]).toMatch(/^IMP-150,.*,151,"?House bill/);

        // The page remembers the mapping and applies it to the next file with the same headers.
        await later.setInputFiles('input[type=file]', createCsvFile('orders.csv', ['IMP-1,,,,,,,,,,4712']));
        await later.getByText('1 shipment ready to import, 0 rows with errors').waitFor();
        expect(await later.getByRole('combobox', { name: 'Field for column “Cost centre”' }).inputValue()).toBe(
          'Custom fields',
        );
        await window.closeBrowserWindow();
      },
      scaleTimeout(180_000),
    );
  },
};
