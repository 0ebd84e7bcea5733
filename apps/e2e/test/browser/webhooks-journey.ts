import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { Page } from 'playwright-core';
import { generateEmail } from '../people.ts';
import { runCli, type SystemUnderTest } from '../subject.ts';
import { createHttpClient } from '../tenant.ts';
import type { BrowserJourneyTestDefinition } from './browser-test-harness.ts';
import { BrowserWindow } from './browser.ts';
import { selectOption } from './fields.ts';
import { LoopbackReceiver } from './loopback-receiver.ts';

/** Journey of a developer from the first start to a replayed dead letter. */
export const webhooksBrowserJourney: BrowserJourneyTestDefinition = {
  name: 'webhooks in the browser',
  isFirstStart: true,
  tests: (harness) => {
    let receiver: LoopbackReceiver;
    beforeAll(async () => {
      receiver = await LoopbackReceiver.startLoopbackReceiver();
    });
    afterAll(() => receiver?.closeReceiver());

    it(
      'first start, key, endpoint, challenge, test event, live event, dead letter, replay',
      async () => {
        const { subject, browser } = harness();
        const window = await BrowserWindow.openBrowserWindow(browser, subject);
        const { page } = window;
        await window.openPageAtPath(`/invitation#${await getFirstAdminLink(subject)}`);
        const email = page.getByLabel('E-mail');
        if (await email.isEditable()) await email.fill(generateEmail('first'));
        await page.getByLabel('Your name').fill('Ann Visser');
        await page.locator('input[type=password]').fill('a long password for tests');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('link', { name: 'Settings' }).click();
        // The first-steps page has a button of the same name.
        await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
        const key = await createApiKeyInBrowser(page);
        const system = createHttpClient(subject.urls, { authorization: `Bearer ${key}` });
        expect((await system.post('/v1/shipments', { external_id: 'PO-1' })).status).toBe(201);

        const secret = await addEndpoint(page, receiver.url);
        await page.getByRole('link', { name: 'Continue to verification' }).click();
        receiver.answer = { status: 200, body: 'good morning' };
        await page.getByRole('button', { name: 'Send challenge' }).click();
        await page.getByText('good morning', { exact: false }).waitFor();
        expect(await page.getByText('Response without the token').count()).toBe(1);
        receiver.answer = 'token';
        await page.getByRole('button', { name: 'Send again' }).click();
        await page.getByText('The endpoint responded with the token').waitFor();
        await window.takeScreenshot('webhook-setup');

        receiver.answer = { status: 200, body: 'thank you' };
        await selectOption(page, page.getByRole('combobox', { name: 'Type' }), 'Exception opened');
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        const outcome = page.getByRole('status').filter({ hasText: 'Exception opened' });
        await outcome.getByText('Succeeded').waitFor();
        expect(receiver.findSignedEvents(secret).map(({ type, sandbox }) => [type, sandbox])).toContainEqual([
          'exception.opened',
          true,
        ]);
        await page.getByRole('button', { name: 'Enable endpoint' }).click();
        await page.getByText('Enabled', { exact: true }).waitFor();

        await page.getByRole('tab', { name: 'Deliveries' }).click();
        await page.getByRole('link', { name: 'Exception opened' }).waitFor();
        expect((await system.post('/v1/shipments', { external_id: 'PO-2' })).status).toBe(201);
        await page.getByRole('button', { name: 'Show 1 new delivery' }).click();
        const live = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Shipment created' }) });
        await live.getByText('Succeeded').waitFor();
        expect(receiver.findSignedEvents(secret).map(({ data }) => data['external_id'])).toContain('PO-2');

        receiver.answer = { status: 500, body: 'the database does not respond' };
        expect((await system.post('/v1/shipments', { external_id: 'PO-3' })).status).toBe(201);
        await page.getByRole('button', { name: 'Show 1 new delivery' }).click();
        const lost = page.getByRole('row').filter({ hasText: 'Dead letter' });
        await lost.getByRole('link', { name: 'Shipment created' }).click({ timeout: scaleTimeout(60_000) });
        await page.getByText('Failed permanently').waitFor();
        await page.getByRole('listitem').first().getByText('Response', { exact: true }).click();
        await page.getByText('the database does not respond').first().waitFor();
        await page.getByRole('region', { name: 'Payload' }).getByText('PO-3').waitFor();
        await window.takeScreenshot('webhook-dead-letter');

        await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
        await page.getByRole('tab', { name: 'Dead letters' }).click();
        await page.getByRole('button', { name: /Non-2xx response\s*1/ }).click();
        await page.getByRole('link', { name: 'Shipment created' }).waitFor();
        await window.takeScreenshot('webhook-dead-letters');
        receiver.answer = { status: 204, body: '' };
        await page.getByRole('button', { name: 'Replay 1 matching…' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
        await page.getByText('Completed').waitFor();
        await page.getByText('1 matched · 1 delivered').waitFor();
        await page.getByText('No matching dead letters').waitFor();
        await eventually(
          () =>
            expect(
              receiver.findSignedEvents(secret).filter(({ data }) => data['external_id'] === 'PO-3').length,
            ).toBeGreaterThan(1),
          { deadlineMs: 30_000 },
        );
        await page.getByRole('tab', { name: 'Replays' }).click();
        await page.getByText('1 matched · 1 delivered').waitFor();

        await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Events' }).click();
        await page.getByText('PO-2').first().waitFor();
        expect((await system.post('/v1/shipments', { external_id: 'PO-4' })).status).toBe(201);
        await page.getByText('PO-4').first().waitFor();
        expect(window.complaints).toEqual([]);
        await window.closeBrowserWindow();
      },
      scaleTimeout(180_000),
    );
  },
};

/** One-time link of the first start. On services, the operator invites the first administrator instead. */
async function getFirstAdminLink(subject: SystemUnderTest): Promise<string> {
  const { DATA_DIR } = subject.operator;
  const link =
    DATA_DIR === undefined
      ? await runCli(subject, 'users', 'create', '--email', generateEmail('first'), '--role', 'admin')
      : (await readFile(join(DATA_DIR, 'first-admin-link'), 'utf8')).trim();
  return link.slice(link.indexOf('#') + 1);
}

async function createApiKeyInBrowser(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('TMS');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = await dialog.getByLabel('Key', { exact: true }).inputValue();
  await dialog.getByRole('button', { name: 'Done' }).click();
  return key;
}

/** Adds an endpoint. Returns its signing secret. */
async function addEndpoint(page: Page, url: string): Promise<string> {
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('link', { name: 'Add endpoint' }).click();
  await page.getByLabel('URL').fill('ftp://nowhere.example');
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  await page.getByText('Endpoint not added').waitFor();
  await page.getByLabel('URL').fill(url);
  await page.getByLabel('Description').fill('Our TMS');
  await page.getByLabel('Search event types').fill('rejected');
  await page.getByRole('checkbox', { name: 'Document rejected' }).check();
  await page.getByRole('button', { name: 'Add header' }).click();
  await page.getByLabel('Name of header 1').fill('X-Site');
  await page.getByLabel('Value of header 1').fill('RTM');
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const secret = await page.getByLabel('Signing secret', { exact: true }).inputValue();
  expect(secret).toMatch(/^whsec_/);
  return secret;
}
