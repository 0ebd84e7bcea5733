import type { Environment, Permission } from '@tracking/contracts';

/**
 * Who makes a request, where, and what they may do, however they proved it. Everything behind authentication (guards,
 * rate limit, read-your-writes, commands, log lines) stands on this alone.
 */
export type Principal = ServiceAccountKeyPrincipal | UserKeyPrincipal | SessionPrincipal;

interface Authority {
  /** Of the key or the session: what requests are counted by, and writes remembered under. Unique over all kinds. */
  readonly credential_id: string;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly permissions: ReadonlySet<Permission>;
}

/** A system, by the key of its service account. */
export interface ServiceAccountKeyPrincipal extends Authority {
  readonly type: 'service_account_key';
  readonly actor: { readonly type: 'service_account'; readonly id: string };
}

/** A person's program, by a key of theirs. */
export interface UserKeyPrincipal extends Authority {
  readonly type: 'user_key';
  readonly actor: { readonly type: 'user'; readonly id: string };
}

/** A person, signed in with a browser. */
export interface SessionPrincipal extends Authority {
  readonly type: 'session';
  readonly actor: { readonly type: 'user'; readonly id: string };
}
