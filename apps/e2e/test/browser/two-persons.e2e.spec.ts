import type { Shipment } from '@tracking/contracts';
import type { Browser, Page } from 'playwright-core';
import { accept, emailOf, newAdmin, type Person } from '../people.ts';
import { cli, sharedStandalone, type Subject } from '../subject.ts';
import { newWorkspace } from '../tenant.ts';
import { Window, startBrowser, describeInBrowser } from './browser.ts';
import { pdfSaying } from './paper.ts';

describeInBrowser('two persons at one shipment', () => {
  let subject: Subject;
  let browser: Browser;
  let people: { readonly ann: Person; readonly kim: Person };
  let shipment: Shipment;
  beforeAll(async () => {
    subject = await sharedStandalone();
    browser = await startBrowser();
    const workspace = await newWorkspace(subject, 'two');
    const ann = await newAdmin(subject, workspace);
    const email = emailOf('kim');
    const link = await cli(
      subject,
      'users',
      'create',
      '--email',
      email,
      '--role',
      'operator',
      '--workspace',
      workspace,
    );
    const kim = await accept(subject, link, email);
    await kim.api.patch('/v1/session', { name: 'Kim' });
    people = { ann, kim };
  });
  beforeEach(async () => {
    const made = await people.ann.api.post<Shipment>('/v1/shipments', { house_bill: 'HBL-2', mode: 'ocean' });
    expect(made.status).toBe(201);
    shipment = made.data;
  });
  afterAll(async () => {
    await browser?.close();
  });

  /** What each of them sees, side by side. */
  async function bothAt(section: string, act: (ann: Page, kim: Page) => Promise<void>): Promise<void> {
    const windows = [await Window.open(browser, subject, people.ann), await Window.open(browser, subject, people.kim)];
    for (const window of windows) await window.goto(`/shipments/${shipment.id}/${section}`);
    const [ann, kim] = windows.map(({ page }) => page) as [Page, Page];
    await act(ann, kim);
    expect(windows.flatMap(({ complaints }) => complaints)).toEqual([]);
    for (const window of windows) await window.close();
  }

  it('one resolves what the other took over meanwhile: they are shown who did what, and choose', async () => {
    await people.ann.api.post(`/v1/shipments/${shipment.id}/exceptions`, { type: 'seal_broken' });
    await bothAt('exceptions', async (ann, kim) => {
      const [hers, theirs] = [ann, kim].map((page) => page.getByRole('article', { name: 'Seal broken' }));
      await hers?.getByRole('button', { name: /^Resolve/ }).click();
      const dialog = ann.getByRole('dialog');
      await dialog.getByLabel('Note').fill('A new seal is on.');

      await theirs?.getByRole('button', { name: /^Acknowledge/ }).click();
      await kim.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
      await theirs?.getByText(`With ${people.kim.email}.`).waitFor();
      // It comes to her as it happens, behind what she is at.
      await hers?.getByText(`With ${people.kim.email}.`).waitFor();

      await dialog.getByRole('button', { name: 'Resolve' }).click();
      const conflict = ann.getByRole('dialog', { name: 'Somebody else changed the exception meanwhile' });
      await conflict.getByText(`Kim acknowledged “Seal broken” and gave it to ${people.kim.email}`).waitFor();
      await conflict.getByRole('row', { name: `Assignee nothing ${people.kim.email}` }).waitFor();
      await conflict.getByRole('button', { name: 'Keep mine' }).click();
      for (const page of [ann, kim]) await page.getByText('All exceptions are resolved.').waitFor();
      await kim.getByRole('button', { name: 'Show 1' }).click();
      await theirs?.getByText('“A new seal is on.”').waitFor();
    });
  });

  it('one rejects what the other approved meanwhile: theirs stays, and is said to', async () => {
    const form = new FormData();
    form.append('type', 'bill_of_lading');
    form.append('file', new Blob([new Uint8Array(pdfSaying('Bill'))]), 'bill.pdf');
    await people.ann.api.post(`/v1/shipments/${shipment.id}/documents`, form);
    await bothAt('documents', async (ann, kim) => {
      await ann.getByRole('button', { name: 'Reject bill.pdf…' }).click();
      const dialog = ann.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('Not signed');
      await kim.getByRole('button', { name: 'Approve bill.pdf' }).click();
      await kim.getByText('Approved by you').waitFor();
      await dialog.getByRole('button', { name: 'Reject' }).click();
      const conflict = ann.getByRole('dialog', { name: 'Somebody else changed the document meanwhile' });
      await conflict.getByText('Kim approved Bill of lading “bill.pdf”').waitFor();
      await conflict.getByText('What you were about to do cannot be done to it any more.').waitFor();
      expect(await conflict.getByRole('button', { name: 'Keep mine' }).count()).toBe(0);
      await conflict.getByRole('button', { name: 'Take theirs' }).click();
      await ann.getByRole('list', { name: 'Documents' }).getByText('Approved by Kim').waitFor();
      expect(await ann.getByText('Not signed').count()).toBe(0);
    });
  });

  it('what one does not decide by holds up nobody: a milestone that came meanwhile is written past', async () => {
    await people.ann.api.post(`/v1/shipments/${shipment.id}/exceptions`, { type: 'seal_broken' });
    await bothAt('exceptions', async (ann) => {
      await ann
        .getByRole('article', { name: 'Seal broken' })
        .getByRole('button', { name: /^Resolve/ })
        .click();
      const { status } = await people.kim.api.post(`/v1/shipments/${shipment.id}/milestones`, {
        code: 'booking_confirmed',
        occurred_at: new Date().toISOString(),
      });
      expect(status).toBe(201);
      await ann.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
      await ann.getByText('All exceptions are resolved.').waitFor();
    });
  });
});
