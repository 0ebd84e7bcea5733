import { eventually, itInSoak, scaleTimeout } from '@tracking/testing';
import type { Role } from '@tracking/contracts';
import type { Browser, Locator, Page } from 'playwright-core';
import { acceptInvitation, generateEmail, createSignedInAdmin, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';
import { pressEveryButtonOfPage } from './offered.ts';

/** Permissions of each role, as in docs/reference/identity.md. */
const VIEWER = ['shipments:read', 'documents:read'];
const OPERATOR = [
  ...VIEWER,
  ...['shipments:write', 'milestones:write', 'documents:write', 'documents:approve', 'exceptions:write'],
];
const FEED = ['shipments:read', 'shipments:write', 'milestones:write', 'milestones:feed'];
const DEVELOPER = [...VIEWER, 'webhooks:manage', 'keys:manage'];
const ROLES: readonly {
  readonly role: Role;
  readonly environment: 'live' | 'test';
  readonly may: readonly string[];
}[] = [
  { role: 'viewer', environment: 'live', may: VIEWER },
  { role: 'operator', environment: 'live', may: OPERATOR },
  { role: 'feed', environment: 'live', may: FEED },
  { role: 'developer', environment: 'live', may: DEVELOPER },
  { role: 'developer', environment: 'test', may: [...DEVELOPER, ...OPERATOR, ...FEED] },
  { role: 'admin', environment: 'live', may: [...DEVELOPER, ...OPERATOR, ...FEED, 'workspace:admin'] },
];

/**
 * Controls that pages offer, with the permission each one requires. Controls without a permission are offered to all
 * users.
 */
const OFFERED: readonly { readonly path: string; readonly control: string; readonly needs?: string }[] = [
  { path: '/start', control: 'Continue setup', needs: 'webhooks:manage' },
  { path: '/shipments', control: 'New shipment', needs: 'shipments:write' },
  { path: '/shipments', control: 'Import shipments', needs: 'shipments:write' },
  { path: '/shipments/new', control: 'Create shipment', needs: 'shipments:write' },
  { path: '/shipments/import', control: 'CSV file', needs: 'shipments:write' },
  { path: '/exceptions?at=EXCEPTION', control: 'Acknowledge', needs: 'exceptions:write' },
  { path: '/shipments/ID', control: 'Record milestone', needs: 'milestones:write' },
  { path: '/shipments/ID', control: 'Edit', needs: 'shipments:write' },
  { path: '/shipments/ID/edit', control: 'Save', needs: 'shipments:write' },
  { path: '/shipments/ID/documents', control: 'Document files', needs: 'documents:write' },
  { path: '/shipments/ID/exceptions', control: 'Open exception', needs: 'exceptions:write' },
  { path: '/settings/api-keys', control: 'Create key' },
  { path: '/settings/webhooks', control: 'Add endpoint', needs: 'webhooks:manage' },
  { path: '/settings/service-accounts', control: 'Create account', needs: 'workspace:admin' },
  { path: '/settings/team', control: 'Invite', needs: 'workspace:admin' },
  { path: '/settings/exceptions', control: 'Edit', needs: 'workspace:admin' },
  { path: '/settings/required-documents', control: 'Ocean', needs: 'workspace:admin' },
  { path: '/settings/account', control: 'Change password' },
];
/** Sections of the settings, with the permission each one requires. */
const SECTIONS: Readonly<Record<string, string | undefined>> = {
  'API keys': undefined,
  Webhooks: 'webhooks:manage',
  Events: undefined,
  'Service accounts': 'keys:manage',
  Team: 'workspace:admin',
  'Exception rules': 'workspace:admin',
  'Required documents': 'workspace:admin',
  'Audit log': 'workspace:admin',
  'My account': undefined,
};
const PDF = '%PDF-1.4\n%%EOF\n';
const EDIT = '/shipments/ID/edit';
const NO_NAMES: ReadonlySet<string> = new Set();
const PAGES = [
  ...['/start', '/shipments', '/shipments/new', '/shipments/import', '/exceptions', '/exceptions?at=EXCEPTION'],
  ...['', '/edit', '/timeline', '/eta', '/exceptions', '/documents', '/history', '/explanation', '/calls'].map(
    (section) => `/shipments/ID${section}`,
  ),
  ...['/settings/api-keys', '/settings/events', '/settings/service-accounts'],
  ...['', '/new', '/ENDPOINT', '/deliveries', '/dead-letters', '/replays'].map(
    (section) => `/settings/webhooks${section}`,
  ),
  ...['/settings/team', '/settings/exceptions', '/settings/required-documents', '/settings/audit-log'],
  '/settings/account',
];

for (const who of ROLES) {
  declareBrowserTests(`${who.role} in ${who.environment}`, () => {
    const { role, environment, may } = who;
    let subject: SystemUnderTest;
    let browser: Browser;
    let window: BrowserWindow;
    let pathOf: (path: string) => string;
    beforeAll(async () => {
      subject = await findSharedStandaloneServer();
      browser = await startBrowser();
      const workspace = await createWorkspace(subject, 'roles');
      const admin = await createSignedInAdmin(subject, workspace);
      const ids = await createResources(admin, environment);
      const [id = '', endpointId = '', exceptionId = ''] = ids;
      pathOf = (path) => {
        const address = path.replace('ID', id).replace('ENDPOINT', endpointId).replace('EXCEPTION', exceptionId);
        return environment === 'test' ? `${address}${address.includes('?') ? '&' : '?'}environment=test` : address;
      };
      window = await BrowserWindow.openBrowserWindow(browser, subject, await createUser(subject, admin, role));
    }, scaleTimeout(60_000));
    afterAll(async () => {
      await browser?.close();
    });

    it('sees the permitted sections of the settings', async () => {
      await window.openPageAtPath(pathOf('/settings/api-keys'));
      const links = window.page.getByRole('navigation', { name: 'Settings' }).getByRole('link');
      await links.first().waitFor();
      const found = new Set(await links.allTextContents());
      for (const [section, needs] of Object.entries(SECTIONS)) {
        expect([section, found.has(section)]).toEqual([section, needs === undefined || may.includes(needs)]);
      }
    });

    it('is offered the permitted actions only; others are disabled or hidden', async () => {
      for (const { path, control, needs } of OFFERED) {
        await window.openPageAtPath(pathOf(path));
        const isAllowed = needs === undefined || may.includes(needs);
        const check = async () =>
          expect([path, control, await isOffered(window.page, control)]).toEqual([path, control, isAllowed]);
        // A permitted control may appear with later data.
        await (isAllowed ? eventually(check) : check());
      }
      expect(window.complaints).toEqual([]);
    });

    // The short run tests the role with the fewest permissions.
    (role === 'viewer' ? it : itInSoak)(
      'gets no 403 from any control that a page offers',
      async () => {
        const refused = [];
        // Controls above every section of a shipment are pressed on the first section only.
        const above = new Set<string>();
        for (const path of PAGES) {
          const known = path.startsWith('/shipments/ID/') && path !== EDIT ? above : NO_NAMES;
          const { names, refused: here } = await pressEveryButtonOfPage(window, pathOf(path), known);
          refused.push(...here);
          if (path === '/shipments/ID') for (const name of names) above.add(name);
        }
        expect(refused).toEqual([]);
      },
      scaleTimeout(600_000),
    );
  });
}

function found(page: Page, control: string): Locator {
  const main = page.locator('main');
  return main
    .getByRole('button', { name: control })
    .or(main.getByRole('link', { name: control }))
    .or(main.getByLabel(control, { exact: true }))
    .first();
}

async function isOffered(page: Page, control: string): Promise<boolean> {
  const shown = found(page, control);
  if ((await shown.count()) === 0) return false;
  return (await shown.getAttribute('aria-disabled')) !== 'true' && (await shown.isEnabled());
}

/**
 * Creates a shipment with a milestone and a document, an endpoint, and an exception of the shipment. Returns their ids.
 */
async function createResources({ api }: SignedInUser, environment: string): Promise<readonly string[]> {
  const post = async (path: string, body: object): Promise<{ readonly id: string }> => {
    const { status, data } = await api.post<{ readonly id: string }>(path, body, { headers: { environment } });
    if (status >= 300) throw new Error(`not made: ${path} ${status} ${JSON.stringify(data)}`);
    return data;
  };
  const { id } = await post('/v1/shipments', {
    external_id: 'PO-1',
    mode: 'ocean',
    container_numbers: ['CSQU3054383'],
  });
  await post(`/v1/shipments/${id}/milestones`, { code: 'booking_confirmed', occurred_at: '2026-11-01T08:00:00Z' });
  const exception = await post(`/v1/shipments/${id}/exceptions`, { type: 'other', title: 'Ask the carrier' });
  const bill = new FormData();
  bill.append('type', 'bill_of_lading');
  bill.append('file', new Blob([PDF], { type: 'application/pdf' }), 'bill.pdf');
  await post(`/v1/shipments/${id}/documents`, bill);
  await post('/v1/service_accounts', { name: 'TMS', role: 'operator' });
  const root = await post('/v1/service_accounts', { name: 'Root', role: 'admin' });
  await post('/v1/api_keys', { name: 'Of Root', environment: 'live', service_account_id: root.id });
  await post('/v1/api_keys', { name: 'Of the admin', environment: 'live' });
  const endpoint = await post('/v1/webhook_endpoints', { url: 'http://127.0.0.1:9999/hooks', event_types: ['*'] });
  return [id, endpoint.id, exception.id];
}

/** Creates a signed-in user with the role. */
async function createUser(subject: SystemUnderTest, { api }: SignedInUser, role: Role): Promise<SignedInUser> {
  const email = generateEmail(role);
  const { data } = await api.post<{ readonly invitation_url: string }>('/v1/users', { email, role });
  return acceptInvitation(subject, data.invitation_url, email);
}
