import { randomBytes } from 'node:crypto';
import type { Role, User, Workspace } from '@tracking/contracts';
import { waitForSimulatedDelay } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import { runCli, type SystemUnderTest } from './subject.ts';
import { createHttpClient } from './tenant.ts';

/** The header that the application's own scripts send with each write. */
const SAME_ORIGIN_HEADERS = { 'X-Requested-With': 'journey' };

/** Response of `/v1/session`. */
export interface SessionResponse {
  readonly user: User;
  readonly workspace: Workspace;
  readonly role: Role;
  readonly permissions: readonly string[];
}

/** A signed-in user. */
export interface SignedInUser {
  readonly email: string;
  readonly password: string;
  readonly user: User;
  /** Client with the session's cookie. Each request goes to the next gateway. */
  readonly api: AxiosInstance;
  /** Clients with the same session, one for each gateway. */
  readonly gateways: readonly AxiosInstance[];
  readonly cookie: string;
}

export const generateEmail = (name: string) => `${name}-${randomBytes(4).toString('hex')}@example.com`;

/** Creates a user of a workspace on the command line. The user then accepts the invitation and signs in. */
export async function createSignedInUser(
  subject: SystemUnderTest,
  workspace: string,
  role: Role,
): Promise<SignedInUser> {
  const email = generateEmail(role);
  const link = await runCli(subject, 'users', 'create', '--email', email, '--role', role, '--workspace', workspace);
  return acceptInvitation(subject, link, email);
}

export function createSignedInAdmin(subject: SystemUnderTest, workspace: string): Promise<SignedInUser> {
  return createSignedInUser(subject, workspace, 'admin');
}

/** Returns the token of a one-time link. */
export function extractLinkToken(link: string): string {
  return link.slice(link.indexOf('#') + 1);
}

/** Accepts an invitation with a new password, and signs in with it. */
export async function acceptInvitation(subject: SystemUnderTest, link: string, email: string): Promise<SignedInUser> {
  const password = randomBytes(9).toString('hex');
  const accepted = await createAnonymousClient(subject).post(`/v1/invitations/${extractLinkToken(link)}`, {
    name: 'Ann',
    password,
  });
  if (accepted.status !== 200)
    throw new Error(`the invitation was not accepted: ${accepted.status} ${JSON.stringify(accepted.data)}`);
  return signIn(subject, email, password);
}

/**
 * Signs in. Waits while the limit of sign-ins from one network is exceeded, because all suites sign in from this
 * machine.
 */
export async function signIn(subject: SystemUnderTest, email: string, password: string): Promise<SignedInUser> {
  const send = () => createAnonymousClient(subject).post<SessionResponse>('/v1/session', { email, password });
  let answer = await send();
  while (answer.status === 429) {
    await waitForSimulatedDelay(1_000 * Number(answer.headers['retry-after']));
    answer = await send();
  }
  const { status, data, headers } = answer;
  if (status !== 200) throw new Error(`the sign-in failed with status ${status}: ${JSON.stringify(data)}`);
  const [cookie = ''] = (headers['set-cookie'] ?? []).map((each) => each.split(';')[0] ?? '');
  const at = (urls: readonly string[]) => createHttpClient(urls, { ...SAME_ORIGIN_HEADERS, cookie });
  return {
    email,
    password,
    user: data.user,
    api: at(subject.urls),
    gateways: subject.urls.map((url) => at([url])),
    cookie,
  };
}

/** Returns a client without a session. */
export function createAnonymousClient({ urls }: SystemUnderTest): AxiosInstance {
  return createHttpClient(urls, SAME_ORIGIN_HEADERS);
}
