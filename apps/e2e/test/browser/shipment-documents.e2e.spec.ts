import type { Shipment } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import type { Browser, Locator, Page } from 'playwright-core';
import { createSignedInAdmin, createSignedInUser, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { uploadDocument } from '../uploads.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';
import { createPdf, createPng } from './paper.ts';

const HOUR = 3_600_000;

/** Script that returns true if the canvas of the page contains dark pixels. */
const IS_INKED = `(() => {
  const canvas = document.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, index) => index % 4 !== 3 && value < 100);
})()`;

function sectionLink(page: Page, name: string): Locator {
  return page.getByRole('navigation', { name: 'Shipment sections' }).getByRole('link', { name });
}

declareBrowserTests('documents of a shipment', () => {
  let subject: SystemUnderTest;
  let workspace: string;
  let browser: Browser;
  let admin: SignedInUser;
  let shipment: Shipment;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    workspace = await createWorkspace(subject, 'papers');
    admin = await createSignedInAdmin(subject, workspace);
    await admin.api.patch('/v1/settings', { required_documents: { ocean: ['bill_of_lading', 'packing_list'] } });
  });
  beforeEach(async () => {
    const fields = {
      mode: 'ocean',
      container_numbers: ['CSQU3054383'],
      eta: new Date(Date.now() + HOUR).toISOString(),
    };
    shipment = (await admin.api.post<Shipment>('/v1/shipments', fields)).data;
  });
  afterAll(async () => {
    await browser?.close();
  });

  it('are uploaded, previewed, approved, rejected and replaced, with exceptions and history', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath(`/shipments/${shipment.id}/documents`);
    const required = page.getByRole('region', { name: 'Required documents' });
    await required.getByText('0 of 2 are uploaded').waitFor();

    const bill = {
      name: 'MAEU bill of lading.pdf',
      mimeType: 'application/pdf',
      buffer: createPdf('Bill of lading 7'),
    };
    const photo = { name: 'seal.png', mimeType: 'image/png', buffer: createPng(300, 200) };
    await page.locator('input[type=file]').setInputFiles([bill, photo]);
    const offered = async (name: string) =>
      page.getByRole('combobox', { name: `Document type of ${name}` }).inputValue();
    expect([await offered(bill.name), await offered(photo.name)]).toEqual(['Bill of lading', 'Photo']);
    await page.getByRole('button', { name: 'Upload 2 files' }).click();
    const documents = page.getByRole('list', { name: 'Documents' });
    await documents.getByRole('button', { name: photo.name, exact: true }).waitFor();
    await required.getByText('1 of 2 are uploaded').waitFor();

    await documents.getByRole('button', { name: bill.name, exact: true }).click();
    const preview = page.getByRole('dialog');
    await preview.locator('canvas[data-drawn="1"]').waitFor();
    await preview.getByText('Bill of lading 7').waitFor({ state: 'attached' });
    expect(await page.evaluate<boolean>(IS_INKED)).toBe(true);
    expect(new URL(page.url()).searchParams.get('document')).toMatch(/^doc_/);
    await window.takeScreenshot('shipment-document-pdf');
    await page.keyboard.press('Escape');
    await preview.waitFor({ state: 'detached' });

    await documents.getByRole('button', { name: photo.name, exact: true }).click();
    await eventually(async () =>
      expect(await page.evaluate("document.querySelector('[role=dialog] img')?.naturalWidth")).toBe(300),
    );
    await page.keyboard.press('Escape');
    await preview.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: `Approve ${bill.name}` }).click();
    await documents.getByText('Approved by you').waitFor();

    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      required.getByRole('button', { name: 'Choose file for Packing list' }).click(),
    ]);
    await chooser.setFiles({ name: 'scan 1.pdf', mimeType: 'application/pdf', buffer: createPdf('Packing list') });
    await page.getByRole('button', { name: 'Upload file' }).click();
    await page.getByRole('button', { name: 'Reject scan 1.pdf…' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('The weight is missing');
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await documents.getByText('“The weight is missing”').waitFor();

    await sectionLink(page, 'Exceptions').click();
    const rejected = page.getByRole('article', { name: 'Document rejected' });
    await rejected.getByRole('button', { name: /^Acknowledge/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
    await rejected.getByText(`Assigned to ${admin.email}.`).waitFor();
    await window.takeScreenshot('shipment-exceptions');

    await sectionLink(page, 'Documents').click();
    await page.getByRole('button', { name: 'Actions for scan 1.pdf' }).click();
    const [again] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('menuitem', { name: 'Replace…' }).click(),
    ]);
    await again.setFiles({ name: 'scan 2.pdf', mimeType: 'application/pdf', buffer: createPdf('Packing list, 9 t') });
    await page.getByRole('button', { name: 'Upload file' }).click();
    await page.getByRole('button', { name: 'Approve scan 2.pdf' }).click();
    await page.getByRole('button', { name: '1 earlier version' }).waitFor();
    await window.takeScreenshot('shipment-documents');

    await sectionLink(page, 'Exceptions').click();
    await page.getByText('All exceptions are resolved.').waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    const history = page.getByRole('list', { name: 'History' });
    await history.getByText('rejected Packing list “scan 1.pdf” (PDF): “The weight is missing”').waitFor();
    await history.getByText('triggered the resolution of “Document rejected”').waitFor();
    await history.getByText('created the shipment').waitFor();
    await window.takeScreenshot('shipment-history');
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('are uploaded with their latest type, until the user leaves the section', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath(`/shipments/${shipment.id}/documents`);
    /** Uploads that the page begins; each waits until it is released. */
    const uploads: PromiseWithResolvers<void>[] = [];
    await page.route(`**/v1/shipments/${shipment.id}/documents`, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      const released = Promise.withResolvers<void>();
      uploads.push(released);
      await released.promise;
      // The request of a page that was left is gone.
      await route.continue().catch(() => undefined);
    });
    const choose = (...names: string[]) =>
      page
        .locator('input[type=file]')
        .setInputFiles(names.map((name) => ({ name, mimeType: 'application/pdf', buffer: createPdf(name) })));
    await choose('first.pdf', 'removed.pdf', 'retyped.pdf');
    await page.getByRole('button', { name: 'Upload 3 files' }).click();
    await page.getByRole('button', { name: 'Stop upload of first.pdf' }).waitFor();
    await page.getByRole('button', { name: 'Remove removed.pdf' }).click();
    await page.getByRole('combobox', { name: 'Document type of retyped.pdf' }).click();
    await page.getByRole('option', { name: 'Arrival notice' }).click();
    await eventually(() => expect(uploads).toHaveLength(1));
    uploads[0]?.resolve();
    await eventually(() => expect(uploads).toHaveLength(2));
    uploads[1]?.resolve();
    const documents = page.getByRole('list', { name: 'Documents' });
    await documents.getByRole('button', { name: 'retyped.pdf', exact: true }).waitFor();
    await page.getByRole('list', { name: 'Files to upload' }).waitFor({ state: 'detached' });
    const { data } = await admin.api.get<{ data: { file_name: string; type: string }[] }>(
      `/v1/shipments/${shipment.id}/documents`,
    );
    expect(data.data.map(({ file_name, type }) => `${file_name}: ${type}`).toSorted()).toEqual([
      'first.pdf: other',
      'retyped.pdf: arrival_notice',
    ]);

    await choose('left.pdf', 'behind.pdf');
    await page.getByRole('button', { name: 'Upload 2 files' }).click();
    await eventually(() => expect(uploads).toHaveLength(3));
    // A question, which would keep the preview from opening, is refused.
    await documents.getByRole('button', { name: 'first.pdf', exact: true }).click();
    const preview = page.getByRole('dialog');
    await preview.waitFor();
    await page.keyboard.press('Escape');
    await preview.waitFor({ state: 'detached' });
    page.once('dialog', (dialog) => void dialog.accept());
    await sectionLink(page, 'Exceptions').click();
    await page.getByRole('button', { name: 'Open exception' }).waitFor();
    await sectionLink(page, 'Documents').click();
    await documents.getByRole('button', { name: 'first.pdf', exact: true }).waitFor();
    expect(uploads).toHaveLength(3);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('and exceptions of other users appear without a reload; a user opens and resolves an exception', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page } = window;
    await window.openPageAtPath(`/shipments/${shipment.id}/exceptions`);
    await page.getByRole('button', { name: 'Open exception' }).waitFor();
    await admin.api.post(`/v1/shipments/${shipment.id}/exceptions`, { type: 'seal_broken', severity: 'high' });
    await page.getByRole('article', { name: 'Seal broken' }).waitFor();

    await page.getByRole('button', { name: 'Open exception' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type').fill('Container dam');
    await page.getByRole('option', { name: 'Container damaged' }).click();
    await dialog.getByLabel('Applies to').click();
    await page.getByRole('option', { name: 'CSQU3054383' }).click();
    await dialog.getByLabel('Description').fill('The left door does not close.');
    await dialog.getByRole('button', { name: 'Open exception' }).click();
    const damage = page.getByRole('article', { name: 'Container damaged' });
    await damage.getByText('The left door does not close.').waitFor();
    await damage.getByRole('button', { name: /^Resolve/ }).click();
    await dialog.getByLabel('Note').fill('Repaired at the depot.');
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await damage.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show 1' }).click();
    await damage.getByText('“Repaired at the depot.”').waitFor();

    await sectionLink(page, 'Documents').click();
    const notice = { type: 'arrival_notice', file_name: 'notice.pdf' };
    await uploadDocument(admin.api, shipment.id, createPdf('It arrives'), notice);
    await page.getByRole('button', { name: 'notice.pdf', exact: true }).waitFor();
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });

  it('are shown to a viewer, with the missing permissions', async () => {
    await uploadDocument(admin.api, shipment.id, createPdf('Bill'), { type: 'bill_of_lading' });
    const window = await BrowserWindow.openBrowserWindow(
      browser,
      subject,
      await createSignedInUser(subject, workspace, 'viewer'),
    );
    const { page } = window;
    await window.openPageAtPath(`/shipments/${shipment.id}/documents`);
    await page.getByRole('button', { name: 'bill.pdf', exact: true }).waitFor();
    await page.getByText('You can view documents.').waitFor();
    expect(await page.locator('input[type=file]').count()).toBe(0);
    expect(await page.getByRole('button', { name: /Approve|Reject|Choose file/ }).count()).toBe(0);
    await sectionLink(page, 'Exceptions').click();
    expect(await page.getByRole('button', { name: 'Open exception' }).isDisabled()).toBe(true);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  });
});
