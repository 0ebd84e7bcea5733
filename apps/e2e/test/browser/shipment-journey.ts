import type { Shipment, ShipmentDocument } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { Page } from 'playwright-core';
import { createSignedInAdmin } from '../people.ts';
import { createWorkspace } from '../tenant.ts';
import type { BrowserJourneyTestDefinition } from './browser-test-harness.ts';
import { BrowserWindow } from './browser.ts';
import { selectOption, locatePortComboboxOnPage } from './fields.ts';
import { createPdf } from './paper.ts';

const CONTAINER_NUMBER = 'CSQU3054383';
const HOUR_MS = 3_600_000;

export const shipmentBrowserJourney: BrowserJourneyTestDefinition = {
  name: 'journey of a shipment in the browser',
  tests: (harness) => {
    it(
      'a shipment is created, gets a milestone from the API, an approved document and a resolved exception',
      async () => {
        const { subject, browser } = harness();
        const workspace = await createWorkspace(subject, 'journey');
        const ann = await createSignedInAdmin(subject, workspace);
        await ann.api.patch('/v1/settings', { required_documents: { ocean: ['bill_of_lading'] } });
        const window = await BrowserWindow.openBrowserWindow(browser, subject, ann);
        const { page } = window;
        await window.openPageAtPath('/shipments');
        // A page that is loaded again does not have the state of the previous page.
        await page.evaluate('window.isStillTheSame = true');

        const id = await createShipment(page);
        const sections = page.getByRole('navigation', { name: 'Shipment sections' });
        await sections.getByRole('link', { name: 'Timeline' }).click();
        await page.getByText('Connected', { exact: true }).waitFor();
        const status = page.getByRole('region', { name: 'Status' });
        await status.getByText('Pending', { exact: true }).waitFor();
        const departed = {
          code: 'vessel_departed',
          occurred_at: computeTimeHoursAgo(24),
          location: 'CNSHA',
          source: 'carrier',
        };
        expect((await ann.api.post(`/v1/shipments/${id}/milestones`, departed)).status).toBe(201);
        await status.getByText('In transit', { exact: true }).waitFor();
        await status.getByRole('link', { name: 'Vessel departed' }).waitFor();
        await page.getByRole('link', { name: 'Open Vessel departed (actual)' }).waitFor();

        await sections.getByRole('link', { name: /^Documents/ }).click();
        await uploadAndApprove(page);

        await sections.getByRole('link', { name: /^Exceptions/ }).click();
        const hold = { type: 'customs_hold', severity: 'high', container_number: CONTAINER_NUMBER };
        expect((await ann.api.post(`/v1/shipments/${id}/exceptions`, hold)).status).toBe(201);
        await resolveException(page);

        await sections.getByRole('link', { name: 'History' }).click();
        const history = page.getByRole('list', { name: 'History' });
        await history.getByText('created the shipment').waitFor();
        await history.getByText('approved Bill of lading “bill of lading.pdf”').first().waitFor();
        await window.takeScreenshot('shipment-journey');
        expect(await page.evaluate('window.isStillTheSame')).toBe(true);

        // The request may go to another gateway, which may not have the write of this gateway yet.
        await eventually(async () => {
          const { data: shipment } = await ann.api.get<Shipment>(`/v1/shipments/${id}`);
          expect(shipment).toMatchObject({
            external_id: 'PO-7',
            status: 'in_transit',
            container_numbers: [CONTAINER_NUMBER],
          });
          const documents = await ann.api.get<{ data: ShipmentDocument[] }>(`/v1/shipments/${id}/documents`);
          expect(documents.data.data).toMatchObject([{ type: 'bill_of_lading', status: 'approved' }]);
          const exceptions = await ann.api.get<{ data: object[] }>(`/v1/shipments/${id}/exceptions`);
          const resolution = { code: 'fixed', note: 'Customs released the container.' };
          expect(exceptions.data.data).toMatchObject([{ type: 'customs_hold', status: 'resolved', resolution }]);
        });
        expect(window.complaints).toEqual([]);
        await window.closeBrowserWindow();
      },
      scaleTimeout(120_000),
    );
  },
};

const computeTimeHoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

/** Answers its id. */
async function createShipment(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'New shipment' }).click();
  await page.getByLabel('Your reference').fill('PO-7');
  await selectOption(page, page.getByRole('combobox', { name: 'Mode' }), 'Ocean');
  await locatePortComboboxOnPage(page, 'Origin').fill('shangh');
  await page.getByRole('option', { name: /CNSHA/ }).click();
  await locatePortComboboxOnPage(page, 'Destination').fill('rotter');
  await page.getByRole('option', { name: /NLRTM/ }).click();
  await page.getByRole('combobox', { name: 'Container numbers' }).fill(CONTAINER_NUMBER);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create shipment' }).click();
  await page.getByRole('heading', { name: 'PO-7', exact: true }).waitFor();
  const [, id = ''] = /\/shipments\/(shp_[a-z0-9]+)/.exec(page.url()) ?? [];
  return id;
}

async function uploadAndApprove(page: Page): Promise<void> {
  const required = page.getByRole('region', { name: 'Required documents' });
  await required.getByText('0 of 1 are uploaded').waitFor();
  const bill = { name: 'bill of lading.pdf', mimeType: 'application/pdf', buffer: createPdf('Bill of lading 7') };
  await page.locator('input[type=file]').setInputFiles(bill);
  await page.getByRole('button', { name: 'Upload file' }).click();
  const documents = page.getByRole('list', { name: 'Documents' });
  await documents.getByRole('button', { name: bill.name, exact: true }).waitFor();
  await page.getByRole('button', { name: `Approve ${bill.name}` }).click();
  await documents.getByText('Approved by you').waitFor();
}

async function resolveException(page: Page): Promise<void> {
  const hold = page.getByRole('article', { name: 'Customs hold' });
  await hold.getByRole('button', { name: /^Resolve/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Note').fill('Customs released the container.');
  await dialog.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('All exceptions are resolved.').waitFor();
}
