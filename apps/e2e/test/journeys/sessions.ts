import { randomBytes } from 'node:crypto';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import type { SystemUnderTest } from '../subject.ts';
import { createHttpClient, createTestTenant } from '../tenant.ts';

const USER_PASSWORD = 'a long password for tests';
const SAME_ORIGIN_HEADERS = { 'X-Requested-With': 'journey' };

export function declareSessionTests(subject: () => SystemUnderTest): void {
  describe('sessions', () => {
    test(
      'a session works on every gateway, ends on every gateway, and its changes are in the audit log',
      async () => {
        const tenant = await createTestTenant(subject());
        const email = `${randomBytes(4).toString('hex')}@example.com`;
        const invited = await tenant.api.post('/v1/users', { email, role: 'admin' });
        const token = String(invited.data.invitation_url).replace(/^.*#/, '');
        await tenant.api.post(`/v1/invitations/${token}`, { name: 'Jo', password: USER_PASSWORD });

        const browsers = subject().urls.map((url) => createHttpClient([url], SAME_ORIGIN_HEADERS));
        const cookieOf = ({ headers }: AxiosResponse) => ({
          Cookie: String(headers['set-cookie']).split(';', 1)[0],
        });
        const browserAt = (n: number) => browsers[n % browsers.length] as AxiosInstance;
        const signIn = async (n: number) => {
          const browser = browserAt(n);
          const answer = await browser.post('/v1/session', { email, password: USER_PASSWORD });
          expect([answer.status, answer.data.user?.email, answer.data.workspace?.name]).toEqual([
            200,
            email,
            tenant.workspace,
          ]);
          return cookieOf(answer);
        };
        const asked = (headers: object) =>
          Promise.all(browsers.map(async (each) => (await each.get('/v1/session', { headers })).status));
        const all = (status: number) => browsers.map(() => status);

        const [former, other] = [await signIn(0), await signIn(1)];
        expect([await asked(former), await asked(other)]).toEqual([all(200), all(200)]);
        const browser = browserAt(0);
        const foreign = { ...former, Origin: 'https://evil.example' };
        expect((await browser.post('/v1/api_keys', {}, { headers: foreign })).data.error.code).toBe('csrf');
        const passwords = { current_password: USER_PASSWORD, new_password: `${USER_PASSWORD} again` };
        const changed = await browser.post('/v1/session/password', passwords, { headers: former });
        expect(changed.status).toBe(200);
        const mine = cookieOf(changed);
        await eventually(async () => expect(await asked(other)).toEqual(all(401)));
        expect([await asked(former), await asked(mine)]).toEqual([all(401), all(200)]);

        const { data } = await browser.get('/v1/audit_log?limit=1', { headers: mine });
        expect(data.data).toEqual([
          expect.objectContaining({
            type: 'user.password_changed',
            actor: expect.objectContaining({ type: 'user', name: 'Jo' }),
            outcome: 'done',
          }),
        ]);
        expect((await browser.delete('/v1/session', { headers: mine })).status).toBe(200);
        await eventually(async () => expect(await asked(mine)).toEqual(all(401)));
      },
      scaleTimeout(60_000),
    );
  });
}
