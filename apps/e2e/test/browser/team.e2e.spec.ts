import { eventually } from '@tracking/testing';
import type { Browser } from 'playwright-core';
import { createAnonymousClient, generateEmail, createSignedInAdmin, signIn, type SignedInUser } from '../people.ts';
import { findSharedStandaloneServer, runCliWithInput, type SystemUnderTest } from '../subject.ts';
import { createWorkspace } from '../tenant.ts';
import { BrowserWindow, startBrowser, declareBrowserTests } from './browser.ts';

const PASSWORD = 'a long password for tests';

declareBrowserTests('people', () => {
  let subject: SystemUnderTest;
  let browser: Browser;
  let workspace: string;
  let admin: SignedInUser;
  /** The window of Ann, an administrator. */
  let window: BrowserWindow;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
    browser = await startBrowser();
    workspace = await createWorkspace(subject, 'people');
    admin = await createSignedInAdmin(subject, workspace);
  });
  beforeEach(async () => {
    window = await BrowserWindow.openBrowserWindow(browser, subject, admin);
  });
  afterEach(() => window.closeBrowserWindow());
  afterAll(async () => {
    await browser?.close();
  });

  /** Chooses an item in a member's menu. */
  async function choose(name: string, item: string): Promise<void> {
    await window.page.getByRole('button', { name: `Actions for ${name}` }).click();
    await window.page.getByRole('menuitem', { name: item }).click();
  }

  /** Invites a user on the team page. Returns the link shown. */
  async function invited(email: string, role: string): Promise<string> {
    const { page } = window;
    await window.openPageAtPath('/settings/team');
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill(email);
    await dialog.getByLabel(role).check();
    await dialog.getByRole('button', { name: 'Create link' }).click();
    await dialog.getByLabel('One-time link', { exact: true }).waitFor();
    // Escape does not close a dialog that shows a one-time secret.
    await page.keyboard.press('Escape');
    const link = await dialog.getByLabel('One-time link', { exact: true }).inputValue();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    return link;
  }

  /** Accepts an invitation in a new window. */
  async function accepted(link: string, name: string): Promise<BrowserWindow> {
    const theirs = await BrowserWindow.openBrowserWindow(browser, subject);
    await theirs.openPageAtPath(`/invitation${new URL(link).hash}`);
    await theirs.page.getByLabel('Your name').fill(name);
    await theirs.page.locator('input[type=password]').fill(PASSWORD);
    await theirs.page.getByRole('button', { name: 'Continue' }).click();
    await theirs.page.getByText('No shipments yet').waitFor();
    return theirs;
  }

  it('are invited, accept, get another role and are removed', async () => {
    const email = generateEmail('bob');
    const link = await invited(email, 'Viewer');
    const { page } = window;
    await page.getByRole('row', { name: email }).getByText('Invited').waitFor();
    // The one-time link is neither stored by the browser nor part of any URL.
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])');
    expect(kept).not.toContain(new URL(link).hash.slice(1));

    const bob = await accepted(link, 'Bob Boer');
    await bob.page.getByRole('link', { name: 'Settings' }).click();
    await bob.page.getByRole('heading', { name: 'API keys' }).waitFor();
    expect(await bob.page.getByRole('link', { name: 'Team' }).count()).toBe(0);
    await bob.openPageAtPath('/settings/team');
    await bob.page.getByText('Your role, Viewer, does not include administering the workspace').waitFor();

    await window.openPageAtPath('/settings/team');
    await choose('Bob Boer', 'Change role…');
    await page.getByRole('dialog').getByLabel('Administrator').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Bob Boer is Administrator now.').waitFor();
    await bob.openPageAtPath('/settings/team');
    await bob.page.getByRole('button', { name: 'Invite' }).waitFor();

    await choose('Bob Boer', 'Remove…');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Bob Boer is removed.').waitFor();
    await page.getByRole('cell', { name: 'Bob Boer' }).waitFor({ state: 'detached' });
    await bob.page.getByLabel('Search by name or e-mail').fill('x');
    await bob.page.reload();
    await bob.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await bob.page.getByLabel('E-mail').fill(email);
    await bob.page.locator('input[type=password]').fill(PASSWORD);
    await bob.page.getByRole('button', { name: 'Sign in' }).click();
    await bob.page.getByRole('alert').getByText('Sign-in failed').waitFor();
    await bob.closeBrowserWindow();

    await window.openPageAtPath('/settings/audit-log');
    await page.getByText('removed “Bob Boer”').waitFor();
    await page.getByText('Role: Viewer → Administrator').waitFor();
    expect([...window.complaints, ...bob.complaints]).toEqual([]);
  });

  it('cannot use a revoked invitation link, but can use a new one', async () => {
    const email = generateEmail('carla');
    const link = await invited(email, 'Operator');
    const { page } = window;
    await choose(email, 'Revoke invitation…');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Invitation revoked.').waitFor();
    const carla = await BrowserWindow.openBrowserWindow(browser, subject);
    await carla.openPageAtPath(`/invitation${new URL(link).hash}`);
    await carla.page.getByRole('heading', { name: 'This link has expired or was already used' }).waitFor();
    await carla.closeBrowserWindow();

    await page.getByLabel('Show removed members').check();
    await choose(email, 'Restore');
    await page.getByText(`${email} is invited again.`).waitFor();
    const shown = await page.getByRole('dialog').getByLabel('One-time link', { exact: true }).inputValue();
    const there = await BrowserWindow.openBrowserWindow(browser, subject);
    await there.openPageAtPath(`/invitation${new URL(shown).hash}`);
    await there.page.getByLabel('Your name').waitFor();
    await there.closeBrowserWindow();
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await choose(email, 'New invitation link…');
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
    const again = await page.getByRole('dialog').getByLabel('One-time link', { exact: true }).inputValue();
    await (await accepted(again, 'Carla')).closeBrowserWindow();
    expect(window.complaints).toEqual([]);
  });

  it('change their password, which ends other sessions; after signing in again, those return to their page', async () => {
    const email = generateEmail('dan');
    const dan = await accepted(await invited(email, 'Operator'), 'Dan');
    const elsewhere = await signIn(subject, email, PASSWORD);
    const other = await BrowserWindow.openBrowserWindow(browser, subject, elsewhere);
    await other.openPageAtPath('/shipments');
    await other.page.getByRole('link', { name: 'With exceptions' }).click();
    await other.page.getByText('No matching shipments').waitFor();

    await dan.openPageAtPath('/settings/account');
    await dan.page.getByRole('cell', { name: 'This session' }).waitFor();
    const section = dan.page.getByRole('region', { name: 'Password' });
    await section.getByLabel('Current password').fill('not the one at all');
    await section.getByLabel('New password').fill('another sentence of mine');
    await section.getByRole('button', { name: 'Change password' }).click();
    await section.getByText('Is not your current password.').waitFor();
    await section.getByLabel('Current password').fill(PASSWORD);
    await section.getByRole('button', { name: 'Change password' }).click();
    await dan.page.getByText('Password changed.').waitFor();

    // The idle page sends no requests. Its event stream ends with the session and is rejected when it reconnects.
    await other.page.getByText('Your session has ended').waitFor();
    await other.page.getByLabel('E-mail').fill(email);
    await other.page.locator('input[type=password]').fill('another sentence of mine');
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page.getByText('No matching shipments').waitFor();
    expect(new URL(other.page.url()).search).toContain('has_open_exceptions=true');

    await dan.page.getByLabel('Name', { exact: true }).fill('Dan Dijk');
    await dan.page.getByRole('button', { name: 'Save' }).click();
    await dan.page.getByRole('button', { name: 'Dan Dijk: account and sign out' }).click();
    await dan.page.getByRole('menuitem', { name: 'Sign out' }).click();
    await dan.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await dan.page.goBack();
    await dan.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect([...dan.complaints, ...other.complaints]).toEqual([]);
    await Promise.all([dan.closeBrowserWindow(), other.closeBrowserWindow()]);
  });

  it('see why a new password is rejected if the error belongs to a field that the form does not have', async () => {
    const email = generateEmail('gus');
    await (await accepted(await invited(email, 'Viewer'), 'Gus')).closeBrowserWindow();
    await window.openPageAtPath('/settings/team');
    await choose('Gus', 'Create password reset link…');
    await window.page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
    const link = await window.page.getByRole('dialog').getByLabel('One-time link', { exact: true }).inputValue();
    const gus = await BrowserWindow.openBrowserWindow(browser, subject);
    await gus.openPageAtPath(`/invitation${new URL(link).hash}`);
    await gus.page.route('**/v1/invitations/*', (route) => {
      const details = [{ param: 'name', code: 'required', message: 'Must not be empty.' }];
      const error = { type: 'invalid_request', code: 'validation_failed', message: 'Not valid.', details };
      return route.request().method() === 'POST' ? route.fulfill({ status: 400, json: { error } }) : route.continue();
    });
    await gus.page.locator('input[type=password]').fill(PASSWORD);
    await gus.page.getByRole('button', { name: 'Continue' }).click();
    await gus.page.getByRole('alert').getByText('name: Must not be empty.').waitFor();
    expect(gus.complaints).toEqual([]);
    await gus.closeBrowserWindow();
  });

  it('set a new password by a link although they have no name, and lose their keys if the administrator chooses', async () => {
    const email = generateEmail('nameless');
    const command = ['users', 'create', '--email', email, '--role', 'operator', '--workspace', workspace];
    await runCliWithInput(subject, PASSWORD, ...command, '--password-stdin');
    const { api } = await signIn(subject, email, PASSWORD);
    const { status, data } = await api.post<{ key: string }>('/v1/api_keys', { name: 'Script', environment: 'live' });
    expect(status).toBe(201);
    const readWithKey = async () => {
      const authorization = `Bearer ${data.key}`;
      return (await fetch(`${subject.urls[0] ?? ''}/v1/shipments`, { headers: { authorization } })).status;
    };
    const createLink = async (revokesKeys: boolean) => {
      const dialog = window.page.getByRole('dialog');
      await window.openPageAtPath('/settings/team');
      await choose(email, 'Create password reset link…');
      if (revokesKeys) await dialog.getByLabel('Also revoke their API keys').check();
      await dialog.getByRole('button', { name: 'Create link' }).click();
      const link = await dialog.getByLabel('One-time link', { exact: true }).inputValue();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await dialog.waitFor({ state: 'detached' });
      return link;
    };
    await createLink(false);
    expect(await readWithKey()).toBe(200);
    const link = await createLink(true);
    await eventually(async () => expect(await readWithKey()).toBe(401));

    const theirs = await BrowserWindow.openBrowserWindow(browser, subject);
    await theirs.openPageAtPath(`/invitation${new URL(link).hash}`);
    await theirs.page.locator('input[type=password]').fill('another sentence of mine');
    expect(await theirs.page.getByLabel('Your name').count()).toBe(0);
    await theirs.page.getByRole('button', { name: 'Continue' }).click();
    await theirs.page.getByText('No shipments yet').waitFor();
    expect((await signIn(subject, email, 'another sentence of mine')).user.name).toBeNull();
    expect([...window.complaints, ...theirs.complaints]).toEqual([]);
    await theirs.closeBrowserWindow();
  });

  it('sign out one of their other sessions', async () => {
    const email = generateEmail('eve');
    const eve = await accepted(await invited(email, 'Viewer'), 'Eve');
    const elsewhere = await signIn(subject, email, PASSWORD);
    await eve.openPageAtPath('/settings/account');
    await eve.page.getByRole('button', { name: /^Sign out .*127\.0\.0\.1/ }).click();
    await eve.page.getByText('Signed out on other devices.').waitFor();
    expect((await elsewhere.api.get('/v1/session')).status).toBe(401);
    expect(eve.complaints).toEqual([]);
    await eve.closeBrowserWindow();
  });

  it('sign out all other sessions, even if one has already ended and one cannot be ended', async () => {
    const email = generateEmail('finn');
    const finn = await accepted(await invited(email, 'Viewer'), 'Finn');
    const { page } = finn;
    const others = [];
    for (let n = 0; n < 4; n += 1) others.push(await signIn(subject, email, PASSWORD));
    await finn.openPageAtPath('/settings/account');
    const ends = page.getByRole('button', { name: /^Sign out .*127\.0\.0\.1/ });
    await ends.nth(3).waitFor();
    let deletions = 0;
    await page.route('**/v1/sessions/*', async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue();
      deletions += 1;
      const json = { error: { type: 'invalid_request', code: 'x', message: 'Not now.' } };
      if (deletions === 1) return route.fulfill({ status: 404, json });
      return deletions === 2 ? route.fulfill({ status: 400, json }) : route.continue();
    });
    await page.getByRole('button', { name: 'Sign out of all other sessions…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Not now.').waitFor();
    await eventually(async () => expect(await ends.count()).toBe(2));
    expect(deletions).toBe(4);
    expect(finn.complaints).toEqual([]);
    await finn.closeBrowserWindow();
  });

  it('see how long to wait after too many sign-in attempts', async () => {
    const stranger = await BrowserWindow.openBrowserWindow(browser, subject);
    await stranger.openPageAtPath('/sign-in');
    const email = generateEmail('nobody');
    // The service allows another attempt after some seconds, which may pass before the page is checked.
    await eventually(async () => {
      const guesses = Array.from({ length: 10 }, (_, n) =>
        createAnonymousClient(subject).post('/v1/session', { email, password: `guess ${n}` }),
      );
      await Promise.all(guesses);
      await stranger.page.getByLabel('E-mail').fill(email);
      await stranger.page.locator('input[type=password]').fill('one more guess');
      await stranger.page.getByRole('button', { name: 'Sign in' }).click();
      const held = stranger.page.getByRole('button', { name: /^Try again in \d+ s$/, disabled: true });
      await held.waitFor({ timeout: 5_000 });
      await stranger.page.getByText('Too many attempts per minute').waitFor();
    });
    expect(stranger.complaints).toEqual([]);
    await stranger.closeBrowserWindow();
  });

  it('create keys for a service account, which are rejected while the account is disabled', async () => {
    const { page } = window;
    await window.openPageAtPath('/settings/service-accounts');
    await page.getByText('No service accounts yet').waitFor();
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('TMS');
    await page.getByRole('dialog').getByRole('button', { name: 'Create account' }).click();
    const keys = page.getByRole('dialog', { name: 'Keys of TMS' });
    await keys.getByRole('button', { name: 'Create key' }).click();
    const making = page.getByRole('dialog', { name: 'Create key for TMS' });
    await making.getByLabel('Name').fill('Nightly import');
    await making.getByRole('button', { name: 'Create key' }).click();
    const key = await making.getByLabel('Key', { exact: true }).inputValue();
    await making.getByRole('button', { name: 'Done' }).click();
    await keys.getByRole('cell', { name: 'Nightly import', exact: true }).waitFor();
    const asTms = async () => {
      const headers = { Authorization: `Bearer ${key}` };
      return (await fetch(`${subject.urls[0]}/v1/session`, { headers })).status;
    };
    expect(await asTms()).toBe(200);
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'hidden' });

    await choose('TMS', 'Disable…');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('TMS is disabled.').waitFor();
    expect(await asTms()).toBe(401);
    await choose('TMS', 'Enable');
    await page.getByText('TMS is enabled.').waitFor();
    expect(await asTms()).toBe(200);
    expect(window.complaints).toEqual([]);
  });
});
