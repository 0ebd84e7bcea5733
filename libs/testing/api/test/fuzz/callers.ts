import { randomUUID } from 'node:crypto';
import type { Environment, Role } from '@tracking/contracts';
import { EVERY_KEY } from '@tracking/identity';
import type { IdentityCommand } from '@tracking/identity';
import type { Api } from '../start-api.ts';

/** Somebody who asks. */
export interface Caller {
  readonly headers: Readonly<Record<string, string>>;
  /** Those who see the same things. */
  readonly scope: string;
  /** Whether these are credentials. */
  readonly isKnown: boolean;
}

export const PASSWORD = 'correct horse battery';

/** Those who ask: most of them may do everything in the workspace `default`, the first is a user there. */
export async function newCallers(api: Api): Promise<readonly Caller[]> {
  const key = async (role: Role, environment: Environment, workspace = 'default'): Promise<Caller> =>
    known(bearer(await api.key(role, environment, workspace)), `${workspace} ${environment}`);
  const admin = await key('admin', 'live');
  const user = await newUser(api, 'admin');
  const command = await commandOf(api);
  const request = { name: 'fuzz', environment: 'live', owner: { type: 'user', id: user.id } } as const;
  const { after } = await api.identity.keys.create(command, EVERY_KEY, request);
  const own = known(bearer(after.key), LIVE);
  const session = await sessionOf(api, user.email);
  const operator = await sessionOf(api, (await newUser(api, 'operator')).email);
  return [
    ...[own, own, own, own, own, own, own, admin, admin, admin, admin, admin],
    ...[
      known(session, LIVE),
      known(session, LIVE),
      known(operator, LIVE),
      known({ cookie: session['cookie'] ?? '' }, LIVE),
    ],
    known({ ...session, environment: 'test' }, 'default test'),
    ...(await Promise.all(LESSER.map(([role, environment]) => key(role, environment)))),
    ...[await key('admin', 'live', 'other'), await key('admin', 'test', 'other')],
    ...STRANGERS.map((headers) => ({ headers, scope: LIVE, isKnown: false })),
  ];
}

const LIVE = 'default live';
const OWN_PAGE = { 'x-requested-with': 'fuzz' };
const STRANGERS = [{}, bearer('sk_live_nobody'), { cookie: '__Host-session=nobody', ...OWN_PAGE }] as const;

const LESSER = [
  ['admin', 'test'],
  ['developer', 'live'],
  ['developer', 'test'],
  ['operator', 'live'],
  ['feed', 'live'],
  ['viewer', 'live'],
] as const;

function bearer(key: string): Caller['headers'] {
  // Who signs in has to tell that they come from our own pages, whatever else they have.
  return { authorization: `Bearer ${key}`, ...OWN_PAGE };
}

function known(headers: Caller['headers'], scope: string): Caller {
  return { headers, scope, isKnown: true };
}

async function commandOf(api: Api): Promise<IdentityCommand> {
  const actor = { type: 'system', id: 'test' } as const;
  return { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id: await api.workspace() };
}

async function newUser(api: Api, role: Role) {
  const person = { email: `${randomUUID()}@example.com`, role, password: PASSWORD };
  return (await api.identity.users.create(await commandOf(api), person)).after;
}

async function sessionOf(api: Api, email: string): Promise<Caller['headers']> {
  const from = { address: '203.0.113.7', user_agent: 'fuzz' };
  const { token } = await api.identity.signIn(await commandOf(api), { email, password: PASSWORD, ...from });
  return { cookie: `__Host-session=${token}`, ...OWN_PAGE };
}
