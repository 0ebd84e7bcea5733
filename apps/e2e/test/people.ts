import { randomBytes } from 'node:crypto';
import type { Role, User, Workspace } from '@tracking/contracts';
import type { AxiosInstance } from 'axios';
import { cli, type Subject } from './subject.ts';
import { clientWith } from './tenant.ts';

/** What a browser's own scripts send with each write. */
const FROM_THE_APP = { 'X-Requested-With': 'journey' };

/** Who somebody is, as `/v1/session` tells them. */
export interface Identified {
  readonly user: User;
  readonly workspace: Workspace;
  readonly role: Role;
  readonly permissions: readonly string[];
}

/** Somebody who is signed in. */
export interface Person {
  readonly email: string;
  readonly password: string;
  readonly user: User;
  /** Goes from gateway to gateway with the cookie of their session, request by request. */
  readonly api: AxiosInstance;
  /** The same session at each gateway. */
  readonly gateways: readonly AxiosInstance[];
  readonly cookie: string;
}

export const emailOf = (name: string) => `${name}-${randomBytes(4).toString('hex')}@example.com`;

/** An admin of a workspace, made on the command line, who has accepted and signed in. */
export async function newAdmin(subject: Subject, workspace: string): Promise<Person> {
  const email = emailOf('admin');
  const link = await cli(subject, 'users', 'create', '--email', email, '--role', 'admin', '--workspace', workspace);
  return accept(subject, link, email);
}

/** What a one-time link holds behind its address. */
export function tokenOf(link: string): string {
  return link.slice(link.indexOf('#') + 1);
}

/** Sets a password where a one-time link leads to, and signs in with it. */
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

/** Somebody who is not signed in. */
export function anybody({ urls }: Subject): AxiosInstance {
  return clientWith(urls, FROM_THE_APP);
}
