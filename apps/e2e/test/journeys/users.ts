import { randomBytes } from 'node:crypto';
import type { User } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import { type SystemUnderTest, runCli } from '../subject.ts';
import { type TestTenant, createKeyClient, createTestTenant } from '../tenant.ts';

const USER_PASSWORD = 'a long password for tests';
const generateEmail = () => `${randomBytes(4).toString('hex')}@example.com`;
const extractLinkToken = (url: string): string => url.replace(/^.*#/, '');

export function declareUserTests(subject: () => SystemUnderTest): void {
  describe('users', () => {
    let tenant: TestTenant;
    beforeEach(async () => {
      tenant = await createTestTenant(subject());
    }, scaleTimeout(30_000));

    const gateway = (n: number): AxiosInstance => tenant.gateways[n % tenant.gateways.length] ?? tenant.api;
    const operate = (...words: string[]) => runCli(subject(), 'users', ...words, '--workspace', tenant.workspace);
    /** Creates a user who was invited and has joined. */
    async function createUser(role: User['role']): Promise<User> {
      const invited = await tenant.api.post<{ invitation_url: string }>('/v1/users', { email: generateEmail(), role });
      const token = extractLinkToken(invited.data.invitation_url);
      const joined = await tenant.api.post<User>(`/v1/invitations/${token}`, { name: 'Jo', password: USER_PASSWORD });
      expect([joined.status, joined.data.status]).toEqual([200, 'active']);
      return joined.data;
    }

    test(
      'a user joins with a one-time link, which works once even if several gateways receive it concurrently',
      async () => {
        const email = generateEmail();
        const invited = await tenant.api.post('/v1/users', { email, role: 'operator' });
        const path = `/v1/invitations/${extractLinkToken(String(invited.data.invitation_url))}`;
        const told = await Promise.all(tenant.gateways.map((each) => each.get(path)));
        expect(told.map(({ status, data }) => [status, data.email])).toEqual(tenant.gateways.map(() => [200, email]));
        const answers = await Promise.all(
          Array.from({ length: 12 }, (_, n) =>
            gateway(n).post(path, { name: `Jo ${n}`, password: `${USER_PASSWORD} ${n}` }),
          ),
        );
        expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(11).fill(404)]);
        const winner = answers.find(({ status }) => status === 200)?.data as User;
        const { data } = await tenant.api.get<User>(`/v1/users/${winner.id}`);
        expect([data.name, data.version]).toEqual([winner.name, 2]);
      },
      scaleTimeout(60_000),
    );

    test(
      'one administrator remains after two demote each other concurrently',
      async () => {
        let [one, two] = [await createUser('admin'), await createUser('admin')];
        for (let round = 0; round < 15; round += 1) {
          const demote = ({ id }: User, n: number) => gateway(n).patch(`/v1/users/${id}`, { role: 'viewer' });
          const answers = await Promise.all([demote(two, round), demote(one, round + 1)]);
          expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
          const refused = answers.find(({ status }) => status === 409);
          expect(refused?.data.error.code).toBe('last_admin');
          const { data } = await tenant.api.get<{ data: User[] }>('/v1/users');
          const admins = data.data.filter(({ role, status }) => role === 'admin' && status === 'active');
          expect(admins).toHaveLength(1);
          [one, two] = [admins[0] ?? one, await createUser('admin')];
        }
      },
      scaleTimeout(120_000),
    );

    test(
      "operators deactivate users, and the users' keys then stop working on every gateway",
      async () => {
        const email = generateEmail();
        const invitation = (await operate('create', '--email', email, '--role', 'viewer')).trim();
        const use = (url: string) =>
          tenant.api.post(`/v1/invitations/${extractLinkToken(url)}`, { name: 'Ann', password: USER_PASSWORD });
        expect((await use(invitation)).status).toBe(200);
        const options = ['--name', 'own', '--environment', 'live', '--user', email, '--workspace', tenant.workspace];
        const key = (await runCli(subject(), 'keys', 'create', ...options)).trim();
        const mine = subject().urls.map((url) => createKeyClient([url], key));
        const asked = (path: string) => Promise.all(mine.map(async (each) => (await each.get(path)).status));
        expect(await asked('/v1/shipments')).toEqual(mine.map(() => 200));
        expect(await asked('/v1/users')).toEqual(mine.map(() => 403));
        await operate('set-role', email, 'admin');
        await eventually(async () => expect(await asked('/v1/users')).toEqual(mine.map(() => 200)));
        await createUser('admin');
        expect((await use((await operate('reset-password', email)).trim())).status).toBe(200);
        await operate('deactivate', email);
        await eventually(async () => expect(await asked('/v1/shipments')).toEqual(mine.map(() => 401)));
        expect(await operate('list', '--json')).toContain(email);
      },
      scaleTimeout(60_000),
    );
  });
}
