import type { Shipment } from '@tracking/contracts';
import type { Browser, Page } from 'playwright-core';
import { createSignedInAdmin, createSignedInUser, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { uploadDocument } from '../uploads.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';
import { createPdf } from './paper.ts';

declareBrowserTests('two users at one shipment', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  let people: { readonly ann: SignedInUser; readonly kim: SignedInUser };
  let shipment: Shipment;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    const workspace = await createWorkspace(subject, 'two');
    const ann = await createSignedInAdmin(subject, workspace);
    const kim = await createSignedInUser(subject, workspace, 'operator');
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

  /** Opens the section of the shipment in a window of each person. */
  async function bothAt(section: string, act: (ann: Page, kim: Page) => Promise<void>): Promise<void> {
    const windows = [
      await BrowserWindow.openBrowserWindow(browser, subject, people.ann),
      await BrowserWindow.openBrowserWindow(browser, subject, people.kim),
    ];
    for (const window of windows) await window.openPageAtPath(`/shipments/${shipment.id}/${section}`);
    const [ann, kim] = windows.map(({ page }) => page) as [Page, Page];
    await act(ann, kim);
    expect(windows.flatMap(({ complaints }) => complaints)).toEqual([]);
    for (const window of windows) await window.closeBrowserWindow();
  }

  it('resolving an exception that another user acknowledged shows the change and asks', async () => {
    await people.ann.api.post(`/v1/shipments/${shipment.id}/exceptions`, { type: 'seal_broken' });
    await bothAt('exceptions', async (ann, kim) => {
      const [hers, theirs] = [ann, kim].map((page) => page.getByRole('article', { name: 'Seal broken' }));
      await hers?.getByRole('button', { name: /^Resolve/ }).click();
      const dialog = ann.getByRole('dialog');
      await dialog.getByLabel('Note').fill('A new seal is on.');

      await theirs?.getByRole('button', { name: /^Acknowledge/ }).click();
      await kim.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
      await theirs?.getByText(`Assigned to ${people.kim.email}.`).waitFor();
      // It comes to her as it happens, behind what she is at.
      await hers?.getByText(`Assigned to ${people.kim.email}.`).waitFor();

      await dialog.getByRole('button', { name: 'Resolve' }).click();
      const conflict = ann.getByRole('dialog', { name: 'Another user changed the exception' });
      await conflict.getByText(`Kim acknowledged “Seal broken” and assigned it to ${people.kim.email}`).waitFor();
      await conflict.getByRole('row', { name: `Assignee none ${people.kim.email}` }).waitFor();
      await conflict.getByRole('button', { name: 'Apply my change' }).click();
      for (const page of [ann, kim]) await page.getByText('All exceptions are resolved.').waitFor();
      await kim.getByRole('button', { name: 'Show 1' }).click();
      await theirs?.getByText('“A new seal is on.”').waitFor();
    });
  });

  it('rejecting a document that another user approved shows that it is no longer possible', async () => {
    await uploadDocument(people.ann.api, shipment.id, createPdf('Bill'), { type: 'bill_of_lading' });
    await bothAt('documents', async (ann, kim) => {
      await ann.getByRole('button', { name: 'Reject bill.pdf…' }).click();
      const dialog = ann.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('Not signed');
      await kim.getByRole('button', { name: 'Approve bill.pdf' }).click();
      await kim.getByText('Approved by you').waitFor();
      await dialog.getByRole('button', { name: 'Reject' }).click();
      const conflict = ann.getByRole('dialog', { name: 'Another user changed the document' });
      await conflict.getByText('Kim approved Bill of lading “bill.pdf”').waitFor();
      await conflict.getByText('Your action is no longer possible.').waitFor();
      expect(await conflict.getByRole('button', { name: 'Apply my change' }).count()).toBe(0);
      await conflict.getByRole('button', { name: 'Keep their change' }).click();
      await ann.getByRole('list', { name: 'Documents' }).getByText('Approved by Kim').waitFor();
      expect(await ann.getByText('Not signed').count()).toBe(0);
    });
  });

  /** Opens a path of the shipment in a window of Ann that gets no events. */
  async function withoutEvents(path: string, act: (page: Page) => Promise<void>): Promise<void> {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, people.ann);
    await window.withholdEventStreamFromPage();
    await window.openPageAtPath(`/shipments/${shipment.id}${path}`);
    await act(window.page);
    expect(window.complaints).toEqual([]);
    await window.closeBrowserWindow();
  }

  it('cancelling a shipment that another user changed shows the change and asks', async () => {
    await withoutEvents('', async (page) => {
      const choose = async (item: string) => {
        await page.getByRole('button', { name: 'More actions for the shipment' }).click();
        await page.getByRole('menuitem', { name: item }).click();
      };
      const change = (booking_number: string) =>
        people.kim.api.patch(`/v1/shipments/${shipment.id}`, { booking_number });
      const conflict = page.getByRole('dialog', { name: 'Another user changed the shipment' });

      await change('B-1');
      await choose('Cancel shipment…');
      await page.getByRole('button', { name: 'Cancel shipment' }).click();
      await conflict.getByText('Kim changed Booking number to B-1').waitFor();
      await conflict.getByRole('row', { name: 'Booking number none B-1' }).waitFor();
      await conflict.getByRole('button', { name: 'Keep their change' }).click();
      await conflict.waitFor({ state: 'detached' });
      await choose('Cancel shipment…');
      await page.getByRole('button', { name: 'Cancel shipment' }).click();
      await page.getByText('Shipment cancelled.').waitFor();

      await change('B-2');
      await choose('Reopen shipment');
      await conflict.getByRole('row', { name: 'Booking number B-1 B-2' }).waitFor();
      await conflict.getByRole('button', { name: 'Apply my change' }).click();
      await page.getByText('Shipment reopened.').waitFor();
    });
  });

  it.each([
    ['NZAKL', 'east of UTC+11'],
    ['USLAX', 'west of UTC'],
  ])('the change of a day at %s, %s, is shown with the date at that port', async (destination_port) => {
    await people.ann.api.patch(`/v1/shipments/${shipment.id}`, { destination_port, eta: '2027-01-09' });
    await withoutEvents('', async (page) => {
      await page.getByRole('button', { name: 'More actions for the shipment' }).waitFor();
      await people.kim.api.patch(`/v1/shipments/${shipment.id}`, { eta: '2027-01-20' });
      await page.getByRole('button', { name: 'More actions for the shipment' }).click();
      await page.getByRole('menuitem', { name: 'Cancel shipment…' }).click();
      await page.getByRole('button', { name: 'Cancel shipment' }).click();
      const conflict = page.getByRole('dialog', { name: 'Another user changed the shipment' });
      await conflict.getByText('Kim changed ETA and Legs').waitFor();
      for (const field of ['ETA', 'Leg 1, ETA'])
        await conflict.getByRole('row', { name: `${field} 9 Jan 2027 20 Jan 2027`, exact: true }).waitFor();
      await conflict.getByRole('button', { name: 'Keep their change' }).click();
    });
  });

  it('retracting a milestone that another user corrected shows the change and asks', async () => {
    const milestones = `/v1/shipments/${shipment.id}/milestones`;
    const happened = { code: 'gated_in', occurred_at: '2026-01-02T10:00:00Z' };
    const { data } = await people.ann.api.post<{ id: string }>(milestones, happened);
    await withoutEvents(`/timeline?milestone=${data.id}`, async (page) => {
      const drawer = page.getByRole('dialog', { name: 'Milestone details' });
      await drawer.getByRole('button', { name: 'Retract…' }).waitFor();
      await people.kim.api.patch(`${milestones}/${data.id}`, { voyage: '647W' });
      await drawer.getByRole('button', { name: 'Retract…' }).click();
      await page.getByRole('button', { name: 'Retract', exact: true }).click();
      const conflict = page.getByRole('dialog', { name: 'Another user changed the milestone' });
      await conflict.getByText('Kim corrected “Gated in”').waitFor();
      await conflict.getByRole('row', { name: 'Voyage none 647W' }).waitFor();
      await conflict.getByRole('button', { name: 'Apply my change' }).click();
      await drawer.getByText('The milestone has no effect').waitFor();
    });
  });

  it('a new milestone does not block the resolution of an exception', async () => {
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
