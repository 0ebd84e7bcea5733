import { randomUUID } from 'node:crypto';
import type { Environment, Role } from '@tracking/contracts';
import { ACCESS_TO_ALL_KEYS } from '@tracking/identity';
import type { IdentityCommand } from '@tracking/identity';
import type { Api } from '../start-api.ts';

/** A caller of the API with its credentials. */
export interface FuzzCaller {
  readonly headers: Readonly<Record<string, string>>;
  /** Scope of the caller. Callers with the same scope can access the same resources. */
  readonly scope: string;
  /** True if the credentials are valid. */
  readonly isAuthenticated: boolean;
}

export const CALLER_PASSWORD = 'correct horse battery';

/** Creates the callers. Most of them are admins of the workspace `default`; the first one is a user. */
export async function createFuzzCallers(api: Api): Promise<readonly FuzzCaller[]> {
  const key = async (role: Role, environment: Environment, workspace = 'default'): Promise<FuzzCaller> =>
    createAuthenticatedCaller(
      createBearerHeaders(await api.key(role, environment, workspace)),
      `${workspace} ${environment}`,
    );
  const admin = await key('admin', 'live');
  const user = await createUser(api, 'admin');
  const command = await createIdentityCommand(api);
  const request = { name: 'fuzz', environment: 'live', owner: { type: 'user', id: user.id } } as const;
  const { after } = await api.identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, request);
  const own = createAuthenticatedCaller(createBearerHeaders(after.key), LIVE_WORKSPACE_SCOPE);
  const session = await signIn(api, user.email);
  const operator = await signIn(api, (await createUser(api, 'operator')).email);
  return [
    ...[own, own, own, own, own, own, own, admin, admin, admin, admin, admin],
    ...[
      createAuthenticatedCaller(session, LIVE_WORKSPACE_SCOPE),
      createAuthenticatedCaller(session, LIVE_WORKSPACE_SCOPE),
      createAuthenticatedCaller(operator, LIVE_WORKSPACE_SCOPE),
      createAuthenticatedCaller({ cookie: session['cookie'] ?? '' }, LIVE_WORKSPACE_SCOPE),
    ],
    createAuthenticatedCaller({ ...session, environment: 'test' }, 'default test'),
    ...(await Promise.all(FUZZ_CALLER_ROLES_AND_ENVIRONMENTS.map(([role, environment]) => key(role, environment)))),
    ...[await key('admin', 'live', 'other'), await key('admin', 'test', 'other')],
    ...INVALID_CREDENTIAL_HEADERS.map((headers) => ({ headers, scope: LIVE_WORKSPACE_SCOPE, isAuthenticated: false })),
  ];
}

const LIVE_WORKSPACE_SCOPE = 'default live';
const X_REQUESTED_WITH_HEADERS = { 'x-requested-with': 'fuzz' };
const INVALID_CREDENTIAL_HEADERS = [
  {},
  createBearerHeaders('sk_live_nobody'),
  { cookie: '__Host-session=nobody', ...X_REQUESTED_WITH_HEADERS },
] as const;

const FUZZ_CALLER_ROLES_AND_ENVIRONMENTS = [
  ['admin', 'test'],
  ['developer', 'live'],
  ['developer', 'test'],
  ['operator', 'live'],
  ['feed', 'live'],
  ['viewer', 'live'],
] as const;

function createBearerHeaders(key: string): FuzzCaller['headers'] {
  // The sign-in requires this header, even if the request has other credentials.
  return { authorization: `Bearer ${key}`, ...X_REQUESTED_WITH_HEADERS };
}

function createAuthenticatedCaller(headers: FuzzCaller['headers'], scope: string): FuzzCaller {
  return { headers, scope, isAuthenticated: true };
}

async function createIdentityCommand(api: Api): Promise<IdentityCommand> {
  const actor = { type: 'system', id: 'test' } as const;
  return { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id: await api.workspace() };
}

async function createUser(api: Api, role: Role) {
  const person = { email: `${randomUUID()}@example.com`, role, password: CALLER_PASSWORD };
  return (await api.identity.users.createUser(await createIdentityCommand(api), person)).after;
}

async function signIn(api: Api, email: string): Promise<FuzzCaller['headers']> {
  const from = { address: '203.0.113.7', user_agent: 'fuzz', request_id: 'req_fuzz' };
  const { token } = await api.identity.signIn(await createIdentityCommand(api), {
    email,
    password: CALLER_PASSWORD,
    ...from,
  });
  return { cookie: `__Host-session=${token}`, ...X_REQUESTED_WITH_HEADERS };
}
