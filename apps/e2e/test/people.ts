import { randomBytes } from 'node:crypto';
import type { Role, User, Workspace } from '@tracking/contracts';
import type { AxiosInstance } from 'axios';
import { cli, type Subject } from './subject.ts';
import { clientWith } from './tenant.ts';

/** The header that the application's own scripts send with each write. */
const FROM_THE_APP = { 'X-Requested-With': 'journey' };

/** The response of `/v1/session`. */
export interface Identified {
  readonly user: User;
  readonly workspace: Workspace;
  readonly role: Role;
  readonly permissions: readonly string[];
}

/** A signed-in user. */
export interface Person {
  readonly email: string;
  readonly password: string;
  readonly user: User;
  /** A client with the session's cookie. Each request goes to the next gateway. */
  readonly api: AxiosInstance;
  /** The same session at each gateway. */
  readonly gateways: readonly AxiosInstance[];
  readonly cookie: string;
}

export const emailOf = (name: string) => `${name}-${randomBytes(4).toString('hex')}@example.com`;

/** Creates a user of a workspace on the command line, who then accepts the invitation and signs in. */
export async function newPerson(subject: Subject, workspace: string, role: Role): Promise<Person> {
  const email = emailOf(role);
  const link = await cli(subject, 'users', 'create', '--email', email, '--role', role, '--workspace', workspace);
  return accept(subject, link, email);
}

export function newAdmin(subject: Subject, workspace: string): Promise<Person> {
  return newPerson(subject, workspace, 'admin');
}

/** The token of a one-time link. */
export function tokenOf(link: string): string {
  return link.slice(link.indexOf('#') + 1);
}

/** Accepts an invitation with a new password, and signs in with it. */
export async function accept(subject: Subject, link: string, email: string): Promise<Person> {
  const password = randomBytes(9).toString('hex');
  const accepted = await anybody(subject).post(`/v1/invitations/${tokenOf(link)}`, { name: 'Ann', password });
  if (accepted.status !== 200) throw new Error(`not accepted: ${accepted.status} ${JSON.stringify(accepted.data)}`);
  return signIn(subject, email, password);
}

export async function signIn(subject: Subject, email: string, password: string): Promise<Person> {
  const { status, data, headers } = await anybody(subject).post<Identified>('/v1/session', { email, password });
  if (status !== 200) throw new Error(`not signed in: ${status} ${JSON.stringify(data)}`);
  const [cookie = ''] = (headers['set-cookie'] ?? []).map((each) => each.split(';')[0] ?? '');
  const at = (urls: readonly string[]) => clientWith(urls, { ...FROM_THE_APP, cookie });
  return {
    email,
    password,
    user: data.user,
    api: at(subject.urls),
    gateways: subject.urls.map((url) => at([url])),
    cookie,
  };
}

/** A client without a session. */
export function anybody({ urls }: Subject): AxiosInstance {
  return clientWith(urls, FROM_THE_APP);
}
