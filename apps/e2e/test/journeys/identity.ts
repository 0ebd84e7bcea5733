import type {
  ApiKey,
  AuditEntry,
  CreatedApiKeyWithSecret,
  ServiceAccount,
  Session,
  Shipment,
  User,
} from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import {
  acceptInvitation,
  createAnonymousClient,
  generateEmail,
  createSignedInAdmin,
  signIn,
  extractLinkToken,
  type SessionResponse,
  type SignedInUser,
} from '../people.ts';
import { runCli, runCliJson, type SystemUnderTest } from '../subject.ts';
import { listAllItems, createKeyClient, createTestTenant } from '../tenant.ts';

const LIVE_API_KEY_REQUEST = { name: 'journey', environment: 'live' };

interface InvitedUser extends User {
  readonly invitation_url: string;
}

export function declareIdentityTests(subject: () => SystemUnderTest): void {
  describe('identity', () => {
    let workspace: string;
    let admin: SignedInUser;
    /** Secrets that the API returned once and that must not appear anywhere else. */
    let secrets: string[];
    beforeEach(async () => {
      ({ workspace } = await createTestTenant(subject()));
      admin = await createSignedInAdmin(subject(), workspace);
      secrets = [admin.password, admin.cookie];
    }, scaleTimeout(60_000));

    /** Returns the status of a write with the key at each gateway. */
    const writesOf = async (key: string): Promise<readonly number[]> =>
      Promise.all(
        subject().urls.map(async (url) => {
          const written = await createKeyClient([url], key).post<Shipment>('/v1/shipments', {
            external_id: 'IDENTITY',
          });
          return written.status;
        }),
      );
    const sessionsOf = async ({ gateways }: SignedInUser): Promise<readonly number[]> =>
      Promise.all(gateways.map(async (gateway) => (await gateway.get('/v1/session')).status));
    const everywhere = (status: number) => subject().urls.map(() => status);
    const invite = async (role: string): Promise<SignedInUser> => {
      const email = generateEmail(role);
      const made = await expectResponseStatus<InvitedUser>(admin.api.post('/v1/users', { email, role }), 201);
      expect(made).toMatchObject({ email, role, status: 'invited', name: null });
      const person = await acceptInvitation(subject(), made.invitation_url, email);
      secrets.push(person.password, person.cookie, extractLinkToken(made.invitation_url));
      return person;
    };
    const newKey = async (api: AxiosInstance, fields: object = {}): Promise<CreatedApiKeyWithSecret> => {
      const made = await expectResponseStatus<CreatedApiKeyWithSecret>(
        api.post('/v1/api_keys', { ...LIVE_API_KEY_REQUEST, ...fields }),
        201,
      );
      secrets.push(made.key);
      return made;
    };

    test(
      "a user is invited, signs in and creates a key, which always has the user's current permissions",
      async () => {
        const me = await expectResponseStatus<SessionResponse>(admin.api.get('/v1/session'), 200);
        expect(me).toMatchObject({ user: { email: admin.email }, workspace: { name: workspace }, role: 'admin' });
        const bob = await invite('operator');
        await expectResponseStatus(bob.api.post('/v1/shipments', { external_id: 'IDENTITY' }), 201);
        expect((await bob.api.get('/v1/users')).status).toBe(403);

        const { id, key, owner } = await newKey(bob.api);
        expect(owner).toEqual({ type: 'user', id: bob.user.id });
        expect(await writesOf(key)).toEqual(everywhere(200));
        const who = await expectResponseStatus<SessionResponse>(
          createKeyClient(subject().urls, key).get('/v1/session'),
          200,
        );
        expect(who).toMatchObject({ user: { id: bob.user.id }, role: 'operator' });

        const at = `/v1/users/${bob.user.id}`;
        expect(await expectResponseStatus<User>(admin.api.patch(at, { role: 'viewer' }), 200)).toMatchObject({
          role: 'viewer',
        });
        await eventually(async () => expect(await writesOf(key)).toEqual(everywhere(403)));
        await expectResponseStatus(admin.api.patch(at, { role: 'operator' }), 200);
        await eventually(async () => expect(await writesOf(key)).toEqual(everywhere(200)));

        await expectResponseStatus(admin.api.post(`${at}/deactivate`), 200);
        await eventually(async () => {
          expect(await writesOf(key)).toEqual(everywhere(401));
          expect(await sessionsOf(bob)).toEqual(everywhere(401));
        });
        const refused = await createAnonymousClient(subject()).post('/v1/session', {
          email: bob.email,
          password: bob.password,
        });
        expect([refused.status, refused.data.error.code]).toEqual([401, 'invalid_credentials']);
        await expectResponseStatus(admin.api.post(`${at}/reactivate`), 200);
        const again = await signIn(subject(), bob.email, bob.password);
        secrets.push(again.cookie);

        await expectResponseStatus(again.api.post(`/v1/api_keys/${id}/revoke`), 200);
        await eventually(async () => expect(await writesOf(key)).toEqual(everywhere(401)));
        await expectResponseStatus(again.api.delete('/v1/session'), 200, 204);
        await eventually(async () => {
          expect(await sessionsOf(again)).toEqual(everywhere(401));
        });
      },
      scaleTimeout(120_000),
    );

    test(
      "a service account's key is rotated with a grace period, and revoked",
      async () => {
        const account = await expectResponseStatus<ServiceAccount>(
          admin.api.post('/v1/service_accounts', { name: 'TMS', role: 'feed' }),
          201,
        );
        const old = await newKey(admin.api, { service_account_id: account.id });
        expect(old).toMatchObject({ role: 'feed', owner: { type: 'service_account', id: account.id } });
        await expectResponseStatus(
          createKeyClient(subject().urls, old.key).post('/v1/shipments', { external_id: 'IDENTITY' }),
          201,
        );
        const rotate = (id: string, grace_seconds: number) =>
          expectResponseStatus<CreatedApiKeyWithSecret>(
            admin.api.post(`/v1/api_keys/${id}/rotate`, { grace_seconds }),
            200,
            201,
          );

        const next = await rotate(old.id, 3_600);
        expect(next.id).not.toBe(old.id);
        expect([await writesOf(old.key), await writesOf(next.key)]).toEqual([everywhere(200), everywhere(200)]);
        const listed = await listAllItems<ApiKey>(admin.api, '/v1/api_keys');
        expect(listed.find(({ id }) => id === old.id)).toMatchObject({
          rotated_to: next.id,
          expires_at: expect.any(String),
        });
        const last = await rotate(next.id, 0);
        secrets.push(next.key, last.key);
        await eventually(async () => expect(await writesOf(next.key)).toEqual(everywhere(401)));
        expect(await writesOf(old.key)).toEqual(everywhere(200));

        await expectResponseStatus(admin.api.post(`/v1/api_keys/${old.id}/revoke`), 200);
        await eventually(async () => expect(await writesOf(old.key)).toEqual(everywhere(401)));
        expect(await writesOf(last.key)).toEqual(everywhere(200));
        await expectResponseStatus(admin.api.post(`/v1/service_accounts/${account.id}/deactivate`), 200);
        await eventually(async () => expect(await writesOf(last.key)).toEqual(everywhere(401)));
      },
      scaleTimeout(120_000),
    );

    test(
      'the audit log records every identity change without secrets, and another workspace sees none of its records',
      async () => {
        const bob = await invite('developer');
        const { id: keyId } = await newKey(bob.api);
        await expectResponseStatus(admin.api.patch(`/v1/users/${bob.user.id}`, { role: 'viewer' }), 200);
        await expectResponseStatus(admin.api.post(`/v1/api_keys/${keyId}/revoke`), 200);
        await runCli(subject(), 'users', 'deactivate', bob.email, '--workspace', workspace);

        const log = await listAllItems<AuditEntry>(admin.api, '/v1/audit_log');
        expect(log.every(({ outcome }) => outcome === 'done')).toBe(true);
        const ofBob = log.filter(({ target }) => target.id === bob.user.id || target.id === keyId);
        expect(ofBob.map(({ type, actor }) => [type, actor.id])).toEqual([
          ['user.deactivated', 'administration'],
          ['api_key.revoked', admin.user.id],
          ['user.changed', admin.user.id],
          ['api_key.created', bob.user.id],
          ['user.joined', bob.user.id],
          ['user.invited', admin.user.id],
        ]);
        expect(ofBob[2]?.changes).toEqual({ role: { from: 'developer', to: 'viewer' } });
        expect([ofBob[0]?.address, ofBob[1]?.address]).toEqual([null, expect.stringContaining('127.0.0.1')]);
        const text = JSON.stringify(log);
        for (const secret of secrets) expect(text).not.toContain(secret);

        const elsewhere = (await createTestTenant(subject())).workspace;
        const stranger = await createSignedInAdmin(subject(), elsewhere);
        const theirs = await listAllItems<AuditEntry>(stranger.api, '/v1/audit_log');
        expect(theirs.map(({ target }) => target.id)).not.toContain(bob.user.id);
        expect((await listAllItems<User>(stranger.api, '/v1/users')).map(({ email }) => email)).toEqual([
          stranger.email,
        ]);
        const foreign = [
          stranger.api.get(`/v1/users/${bob.user.id}`),
          stranger.api.patch(`/v1/users/${bob.user.id}`, { role: 'admin' }),
          stranger.api.get(`/v1/api_keys/${keyId}`),
          stranger.api.post(`/v1/api_keys/${keyId}/revoke`),
        ];
        expect((await Promise.all(foreign)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
        // The same e-mail belongs to another user in the other workspace.
        await expectResponseStatus(stranger.api.post('/v1/users', { email: bob.email, role: 'viewer' }), 201);
      },
      scaleTimeout(120_000),
    );

    test(
      'one-time links for a forgotten password work once, and a new password ends existing sessions',
      async () => {
        const bob = await invite('viewer');
        const where = ['--workspace', workspace];
        const link = await runCli(subject(), 'users', 'reset-password', bob.email, ...where);
        const path = `/v1/invitations/${extractLinkToken(link)}`;
        const open = createAnonymousClient(subject());
        expect(await expectResponseStatus(open.get(path), 200)).toMatchObject({ purpose: 'password_reset' });
        const attempts = await Promise.all(
          Array.from({ length: 10 }, (_, n) => open.post(path, { name: 'Bob', password: `another harbour ${n}` })),
        );
        expect(attempts.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(404)]);
        const chosen = `another harbour ${attempts.findIndex(({ status }) => status === 200)}`;
        expect((await open.get(path)).status).toBe(404);
        await eventually(async () => {
          expect(await sessionsOf(bob)).toEqual(everywhere(401));
        });
        const again = await signIn(subject(), bob.email, chosen);
        const sessions = await listAllItems<Session & { current: boolean }>(again.api, '/v1/sessions');
        expect(sessions).toMatchObject([{ current: true }]);

        const { data } = await runCliJson<{ data: User[] }>(subject(), 'users', 'list', ...where);
        expect(data.map(({ email, role, status }) => [email, role, status]).sort()).toEqual(
          [
            [admin.email, 'admin', 'active'],
            [bob.email, 'viewer', 'active'],
          ].sort(),
        );
        await runCli(subject(), 'users', 'set-role', bob.email, 'operator', ...where);
        const key = await runCli(
          subject(),
          ...'keys create --name his --environment live --user'.split(' '),
          bob.email,
          ...where,
        );
        await expectResponseStatus(
          createKeyClient(subject().urls, key).post('/v1/shipments', { external_id: 'IDENTITY' }),
          201,
        );
      },
      scaleTimeout(120_000),
    );
  });
}

/** Returns the body of a response. @throws Error if the response has another status */
async function expectResponseStatus<T>(answer: Promise<AxiosResponse<T>>, ...statuses: readonly number[]): Promise<T> {
  const { status, data } = await answer;
  if (!statuses.includes(status))
    throw new Error(`expected status ${statuses}, got ${status}: ${JSON.stringify(data)}`);
  return data;
}
