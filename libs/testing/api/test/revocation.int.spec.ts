import { randomUUID } from 'node:crypto';
import type { KeyOwner, User } from '@tracking/contracts';
import { ACCESS_TO_ALL_KEYS } from '@tracking/identity';
import type { IdentityCommand } from '@tracking/identity';
import { UnavailableError } from '@tracking/ports';
import { openAnotherGateway } from './another-replica.ts';
import type { Replica } from './another-replica.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

/** Milliseconds after which credentials revoked on another replica are refused, whatever was cached. */
const REFUSED_AFTER_MS = 5_000;

let here: Api;
let there: Replica;

beforeAll(async () => {
  here = await startApi();
  there = await openAnotherGateway(here);
});
afterEach(() => there.open());
afterAll(async () => {
  await there.close();
  await here.stop();
});

async function command(): Promise<IdentityCommand> {
  const actor = { type: 'system', id: 'test' } as const;
  return { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id: await here.workspace() };
}

/** Key or session, its owner, and the headers that send it. */
interface Credential {
  readonly id: string;
  readonly owner: KeyOwner;
  readonly headers: Readonly<Record<string, string>>;
}

/** Creates a key of a new service account. */
async function keyOfAccount(): Promise<Credential> {
  const { after } = await here.identity.serviceAccounts.createServiceAccount(await command(), {
    name: 'one',
    role: 'operator',
  });
  return keyOf({ type: 'service_account', id: after.id });
}

const PASSWORD = 'correct horse battery';

/** Creates a new user. */
async function newUser(): Promise<User> {
  const user = { email: `${randomUUID()}@example.com`, role: 'operator', password: PASSWORD } as const;
  return (await here.identity.users.createUser(await command(), user)).after;
}

const keyOfUser = async (): Promise<Credential> => keyOf({ type: 'user', id: (await newUser()).id });

async function sessionOfUser(): Promise<Credential> {
  const { id, email } = await newUser();
  const from = { address: '127.0.0.1', user_agent: undefined, request_id: 'req_test' };
  const { session, token } = await here.identity.signIn(await command(), { email, password: PASSWORD, ...from });
  const headers = { cookie: `__Host-session=${token}`, 'x-requested-with': 'test' };
  return { id: session.id, owner: { type: 'user', id }, headers };
}

async function keyOf(owner: KeyOwner): Promise<Credential> {
  const request = { name: 'one', environment: 'live', owner } as const;
  const { after } = await here.identity.keys.createKey(await command(), ACCESS_TO_ALL_KEYS, request);
  return { id: after.id, owner, headers: { authorization: `Bearer ${after.key}` } };
}

const write = ({ headers }: Credential) =>
  ({
    method: 'POST',
    url: '/v1/shipments',
    headers: { ...headers },
    payload: { external_id: randomUUID() },
  }) as const;
const statusThere = async (credential: Credential): Promise<number> =>
  (await there.inject(write(credential))).statusCode;
const statusHere = async (credential: Credential): Promise<number> => (await here.inject(write(credential))).statusCode;

type TakeAway = (key: Credential) => Promise<unknown>;
const revoked: TakeAway = async ({ id }) => here.identity.keys.revokeKey(await command(), ACCESS_TO_ALL_KEYS, id);
const rotated: TakeAway = async ({ id, owner }) => {
  const reach = { ...ACCESS_TO_ALL_KEYS, user_id: owner.type === 'user' ? owner.id : null };
  await here.identity.keys.rotateKey(await command(), reach, id, 0);
};

const demoted: TakeAway = async ({ owner }) =>
  here.identity.users.changeUser(await command(), owner.id, { role: 'viewer' });
const deactivated: TakeAway = async ({ owner }) => here.identity.users.deactivateUser(await command(), owner.id);

const TAKEN_AWAY: readonly (readonly [string, () => Promise<Credential>, TakeAway, number])[] = [
  ['a service account’s key that is revoked', keyOfAccount, revoked, 401],
  ['a service account’s key that is rotated without grace', keyOfAccount, rotated, 401],
  [
    'a key whose service account gets another role',
    keyOfAccount,
    async ({ owner }) =>
      here.identity.serviceAccounts.changeServiceAccount(await command(), owner.id, { role: 'viewer' }),
    403,
  ],
  [
    'a key whose service account is deactivated',
    keyOfAccount,
    async ({ owner }) => here.identity.serviceAccounts.deactivateServiceAccount(await command(), owner.id),
    401,
  ],
  ['a user’s key that is revoked', keyOfUser, revoked, 401],
  ['a user’s key that is rotated without grace', keyOfUser, rotated, 401],
  ['a key whose user gets another role', keyOfUser, demoted, 403],
  ['a key whose user is deactivated', keyOfUser, deactivated, 401],
  [
    'a session that is ended',
    sessionOfUser,
    async ({ id, owner }) => here.identity.sessions.endSession(owner.id, id),
    401,
  ],
  [
    'a session whose user sets another password elsewhere',
    sessionOfUser,
    async ({ owner }) =>
      here.identity.userPasswords.changePassword(await command(), owner.id, {
        current_password: PASSWORD,
        new_password: 'another horse battery',
      }),
    401,
  ],
  [
    'a session whose user’s password is reset',
    sessionOfUser,
    async ({ owner }) => here.identity.users.resetPassword(await command(), owner.id),
    401,
  ],
  ['a session whose user gets another role', sessionOfUser, demoted, 403],
  ['a session whose user is deactivated', sessionOfUser, deactivated, 401],
];

describe.each(TAKEN_AWAY)('%s', (_, make, takeAway, refused) => {
  it('is refused at once where it was done, and within five seconds everywhere', async () => {
    const key = await make();
    expect([await statusHere(key), await statusThere(key)]).toEqual([201, 201]);
    await takeAway(key);
    expect(await statusHere(key)).toBe(refused);
    there.after(REFUSED_AFTER_MS);
    expect(await statusThere(key)).toBe(refused);
  });

  it('is refused within five seconds of use again and again', async () => {
    const key = await make();
    expect(await statusThere(key)).toBe(201);
    await takeAway(key);
    for (let waited = 0; waited < REFUSED_AFTER_MS; waited += 500) {
      await statusThere(key);
      there.after(500);
    }
    expect(await statusThere(key)).toBe(refused);
  });

  it('is not let in by what a slow store read before', async () => {
    const key = await make();
    const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    there.gate(async (moment) => {
      if (moment === 'asked') return;
      read();
      await arrives;
    });
    const answer = statusThere(key);
    await isRead;
    await takeAway(key);
    there.after(REFUSED_AFTER_MS);
    arrive();
    expect(await answer).toBe(503);
    expect(await statusThere(key)).toBe(refused);
  });

  it('is not let in by what is remembered while the store is down', async () => {
    const key = await make();
    expect(await statusThere(key)).toBe(201);
    await takeAway(key);
    there.gate(() => Promise.reject(new UnavailableError('document store', 'is away')));
    there.after(REFUSED_AFTER_MS);
    const head = await here.head();
    const answer = await there.inject(write(key));
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
    expect(answer.json()).toMatchObject({ error: { code: 'unavailable' } });
    expect(await here.head()).toEqual(head);
    there.open();
    expect(await statusThere(key)).toBe(refused);
  });
});

describe('with the document store down', () => {
  it('nobody is let in whom nobody knows, and nobody is told that they are unknown', async () => {
    const key = await keyOfAccount();
    there.gate(() => Promise.reject(new UnavailableError('document store', 'is away')));
    const unknown = { ...key, headers: { authorization: `Bearer sk_live_${'a'.repeat(43)}` } };
    expect([await statusThere(key), await statusThere(unknown)]).toEqual([503, 503]);
    there.open();
    expect(await statusThere(key)).toBe(201);
  });

  it('who was let in a moment ago goes on', async () => {
    const key = await keyOfAccount();
    expect(await statusThere(key)).toBe(201);
    there.gate(() => Promise.reject(new UnavailableError('document store', 'is away')));
    expect(await statusThere(key)).toBe(201);
    there.after(REFUSED_AFTER_MS);
    expect(await statusThere(key)).toBe(503);
  });
});
