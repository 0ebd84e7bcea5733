import { IS_SOAK_RUN, scaleTimeout } from '@tracking/testing';
import type { Browser } from 'playwright-core';
import { createSignedInAdmin, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import {
  NARROW_BROWSER_WINDOW_SIZE,
  WIDE_BROWSER_WINDOW_SIZE,
  BrowserWindow,
  startBrowser,
  declareBrowserTests,
} from './browser.ts';
import { createSampleShipment } from './shipment-scene.ts';
import { type SampleEndpointsAndServer, createSampleWebhooks } from './webhook-scene.ts';

/**
 * Every page with content. `:name` in a path is the id of a resource created below. `drawn` selects an element that is
 * rendered after the data is loaded.
 */
const PAGES: readonly { readonly name: string; readonly path: string; readonly drawn?: string }[] = [
  { name: 'start', path: '/start' },
  { name: 'start-test', path: '/start?environment=test' },
  { name: 'shipments', path: '/shipments' },
  { name: 'no-shipments', path: '/shipments?q=nothing-is-called-so' },
  { name: 'no-shipments-yet', path: '/shipments?environment=test' },
  { name: 'new-shipment', path: '/shipments/new' },
  { name: 'import', path: '/shipments/import' },
  { name: 'exceptions', path: '/exceptions' },
  { name: 'exceptions-due', path: '/exceptions?sort=due' },
  { name: 'exception', path: '/exceptions?at=:exception' },
  { name: 'no-exceptions', path: '/exceptions?environment=test' },
  { name: 'shipment', path: '/shipments/:shipment' },
  { name: 'shipment-edit', path: '/shipments/:shipment/edit' },
  { name: 'shipment-timeline', path: '/shipments/:shipment/timeline' },
  { name: 'shipment-milestone', path: '/shipments/:shipment/timeline?milestone=:milestone', drawn: '[role=dialog] dl' },
  { name: 'shipment-eta', path: '/shipments/:shipment/eta', drawn: '.recharts-line' },
  { name: 'shipment-exceptions', path: '/shipments/:shipment/exceptions' },
  { name: 'shipment-documents', path: '/shipments/:shipment/documents' },
  { name: 'shipment-history', path: '/shipments/:shipment/history' },
  { name: 'shipment-explanation', path: '/shipments/:shipment/explanation' },
  { name: 'shipment-calls', path: '/shipments/:shipment/calls' },
  { name: 'no-such-shipment', path: '/shipments/shp_01900000-0000-7000-8000-000000000000' },
  { name: 'no-such-shipment-edit', path: '/shipments/shp_01900000-0000-7000-8000-000000000000/edit' },
  { name: 'api-keys', path: '/settings/api-keys' },
  { name: 'events', path: '/settings/events' },
  { name: 'exception-rules', path: '/settings/exceptions' },
  { name: 'required-documents', path: '/settings/required-documents' },
  { name: 'webhooks', path: '/settings/webhooks' },
  { name: 'webhook-new', path: '/settings/webhooks/new' },
  { name: 'webhook-endpoint', path: '/settings/webhooks/:well' },
  { name: 'webhook-endpoint-setup', path: '/settings/webhooks/:waiting' },
  { name: 'webhook-endpoint-deliveries', path: '/settings/webhooks/:failing?tab=deliveries' },
  { name: 'webhook-endpoint-replays', path: '/settings/webhooks/:well?tab=replays' },
  { name: 'webhook-endpoint-configuration', path: '/settings/webhooks/:well?tab=configuration' },
  { name: 'webhook-deliveries', path: '/settings/webhooks/deliveries' },
  { name: 'webhook-delivery', path: '/settings/webhooks/deliveries/:dead' },
  { name: 'webhook-dead-letters', path: '/settings/webhooks/dead-letters' },
  { name: 'webhook-replays', path: '/settings/webhooks/replays' },
  { name: 'service-accounts', path: '/settings/service-accounts' },
  { name: 'team', path: '/settings/team' },
  { name: 'team-test', path: '/settings/team?environment=test' },
  { name: 'audit-log', path: '/settings/audit-log' },
  { name: 'account', path: '/settings/account' },
  { name: 'sign-in', path: '/sign-in?ended=true' },
  { name: 'dead-link', path: '/invitation#inv_leads-nowhere' },
];

declareBrowserTests('every page', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  let admin: SignedInUser;
  let webhooks: SampleEndpointsAndServer;
  let ids: Readonly<Record<string, string>>;
  let windows: Readonly<Record<'wide' | 'narrow', BrowserWindow>>;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    const workspace = await createWorkspace(subject, 'pages');
    admin = await createSignedInAdmin(subject, workspace);
    const ports = { mode: 'ocean', origin_port: 'CNSHA', destination_port: 'NLRTM' };
    for (let n = 0; n < 30; n += 1) {
      const { status } = await admin.api.post('/v1/shipments', { ...ports, external_id: `PO-${1_000 + n}` });
      if (status !== 201) throw new Error(`not made: ${status}`);
    }
    const { data } = await admin.api.get<{ data: { id: string }[] }>('/v1/shipments');
    for (const [n, { id }] of data.data.slice(0, 8).entries())
      await admin.api.post(`/v1/shipments/${id}/exceptions`, {
        type: 'customs_hold',
        severity: ['low', 'medium', 'high', 'critical'][n % 4],
      });
    await admin.api.post('/v1/api_keys', { name: 'Nightly import', environment: 'test' });
    webhooks = await createSampleWebhooks(admin);
    ids = { ...webhooks.ids, ...(await createSampleShipment(admin)) };
    windows = {
      wide: await BrowserWindow.openBrowserWindow(browser, subject, admin, WIDE_BROWSER_WINDOW_SIZE),
      narrow: await BrowserWindow.openBrowserWindow(browser, subject, admin, NARROW_BROWSER_WINDOW_SIZE),
    };
  }, scaleTimeout(90_000));
  afterAll(async () => {
    await webhooks?.server.closeEndpointServer();
    await browser?.close();
  });

  // The short run checks each page once, in one of two combinations of size and color scheme.
  const WAYS = [
    { size: 'wide', colorScheme: 'light' },
    { size: 'narrow', colorScheme: 'dark' },
    { size: 'wide', colorScheme: 'dark' },
    { size: 'narrow', colorScheme: 'light' },
  ] as const;
  const looks = PAGES.flatMap((page, index) =>
    WAYS.filter((_, number) => IS_SOAK_RUN || number === index % 2).map((way) => ({ ...page, ...way })),
  );

  it.each(looks)('$name, $size, $colorScheme, has no accessibility violations', async (look) => {
    const { name, path, drawn, size, colorScheme } = look;
    const window = windows[size];
    window.complaints.length = 0;
    await window.page.emulateMedia({ colorScheme });
    await window.openPageAtPath(path.replaceAll(/:(\w+)/g, (_, id: string) => ids[id] ?? ''));
    if (drawn !== undefined) await window.page.locator(drawn).waitFor();
    await window.switchColorScheme(colorScheme);
    await window.takeScreenshot(`${name}-${colorScheme}-${size}`);
    expect(await window.findAccessibilityViolations()).toEqual([]);
    expect(await window.page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(window.complaints).toEqual([]);
  });

  it('shows that the connection is lost, keeps its data, and resumes by itself', async () => {
    const window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
    const { page, context } = window;
    await window.openPageAtPath('/shipments');
    await context.setOffline(true);
    await page.getByText('You are offline').waitFor();
    expect(await page.getByRole('link', { name: 'PO-1029' }).count()).toBe(1);
    await context.setOffline(false);
    await page.getByText('You are offline').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Exceptions', exact: true }).click();
    await window.waitForPageData();
    await page.getByRole('heading', { name: 'Exceptions', level: 1 }).waitFor();
    await window.closeBrowserWindow();
  });
});
