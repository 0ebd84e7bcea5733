import { DomainError, type ItemPage, type PageRequest, type Session, type Timestamp } from '@tracking/contracts';
import type { Clock, Collection, DocumentStore } from '@tracking/ports';
import type { BackgroundWorkThrottle } from '@tracking/resilience';
import { SESSIONS_COLLECTION_SPEC } from './collections.ts';
import { readFilteredPageNewestFirst } from './records.ts';
import { deriveCredentialBytes, hashSecretKeyForStorage, derivePrefixedId, encodeSecretToken } from './secrets.ts';
import type { UserDocument } from './user-store.ts';

const HOUR_MS = 60 * 60 * 1_000;
/** Time without use after which a session ends. */
const MAX_SESSION_IDLE_MS = 12 * HOUR_MS;
/** Time after which a session ends even if it is used. */
const MAX_SESSION_AGE_MS = 30 * 24 * HOUR_MS;
const DELETION_BATCH_SIZE = 200;
/** Epoch of an ended session. No user has this epoch, because the epochs of users begin with 1. */
const EPOCH_OF_ENDED_SESSION = 0;
/**
 * Milliseconds after its start for which an ended session stays stored. A sign-in can be repeated for 24 hours, and a
 * repeat must not begin an ended session again.
 */
const ENDED_SESSION_RETENTION_MS = 24 * HOUR_MS;

/** The fields of a user on which the validity of the user's sessions depends. */
type SessionOwner = Pick<UserDocument, 'id' | 'workspace_id' | 'sessions_epoch' | 'kept_session'>;

export interface SessionDocument extends Session {
  readonly workspace_id: string;
  readonly user_id: string;
  /** SHA-256 of the token in the cookie, in hex; another text for a session that was ended. */
  readonly hash: string;
  /** Value of the owner's `sessions_epoch` in which the session is valid. */
  readonly epoch: number;
  /** Time at which the session ends unless it is used before, and after which it is deleted. */
  readonly ends_at: Timestamp;
}

/** The client that signs in. */
export interface SignInOrigin {
  readonly address: string;
  /** The `User-Agent` header. */
  readonly user_agent: string | undefined;
}

export interface StartedSession {
  readonly session: SessionDocument;
  /** Token for the cookie. It is not stored. */
  readonly token: string;
}

interface SessionsOptions {
  readonly users: Pick<Collection<UserDocument>, 'get'>;
  readonly clock: Clock;
  /** Secret from which tokens derive. */
  readonly secret: Uint8Array;
  /** Callback for every session end that is stored. Runs only in the process that ended the session. */
  readonly onEnded: (session: Pick<SessionDocument, 'hash'>) => void;
}

/** Sign-ins of users. */
export class Sessions {
  private constructor(
    readonly documents: Collection<SessionDocument>,
    private readonly options: SessionsOptions,
  ) {}

  static async openSessions(documentStore: DocumentStore, options: SessionsOptions): Promise<Sessions> {
    const documents = await documentStore.collection<SessionDocument>(SESSIONS_COLLECTION_SPEC);
    return new Sessions(documents, options);
  }

  /** Begins a session. A repeated command returns the same session, but does not restart a session that has ended. */
  async beginSession(
    command: { readonly id: string; readonly at: Timestamp },
    owner: SessionOwner,
    { address, user_agent }: SignInOrigin,
  ): Promise<StartedSession> {
    const token = this.#createSessionToken(command);
    const expires_at = addMsToTime(command.at, MAX_SESSION_AGE_MS);
    const session: SessionDocument = {
      id: derivePrefixedId('ses', command.id),
      workspace_id: owner.workspace_id,
      user_id: owner.id,
      device: describeDevice(user_agent),
      address,
      created_at: command.at,
      last_seen_at: command.at,
      expires_at,
      hash: hashSecretKeyForStorage(token),
      epoch: owner.sessions_epoch,
      ends_at: computeSessionEnd(command.at, expires_at),
    };
    await this.documents.insert(session);
    return { session, token };
  }

  /** Returns the sessions of a user that have not ended, newest first. */
  async listSessions(user_id: string, request: PageRequest): Promise<ItemPage<Session>> {
    const user = await this.options.users.get(user_id);
    if (!user) return { items: [], next: null };
    const epoch = user.sessions_epoch;
    const now = this.options.clock().toISOString();
    // Ended sessions are stored until they are deleted.
    const { items, next } = await readFilteredPageNewestFirst(
      this.documents,
      { user_id, epoch },
      request,
      async (found) => found.filter(({ ends_at }) => ends_at > now),
    );
    return { items: items.map(toSession), next };
  }

  /** Ends a session of the user. @throws DomainError `not_found`, also for a session of another user */
  async endSession(userId: string, id: string): Promise<Session> {
    const present = await this.documents.get(id);
    const ended =
      present?.user_id === userId &&
      present.epoch !== EPOCH_OF_ENDED_SESSION &&
      (await this.documents.claim(createFilterForUnchangedSession(present), {
        hash: `ended ${id}`,
        epoch: EPOCH_OF_ENDED_SESSION,
        ends_at: addMsToTime(present.created_at, ENDED_SESSION_RETENTION_MS),
      }));
    if (!ended) throw new DomainError('not_found', 'You have no such session.');
    this.options.onEnded(present);
    return toSession(present);
  }

  /**
   * Gives a session another token and makes it valid in a new epoch of its user. Without this call, a new epoch ends the
   * session. Returns undefined if the session was ended.
   * @param command the command that began the epoch; a repeat returns the same token
   */
  async replaceSessionTokenForNewEpoch(
    command: { readonly id: string },
    { id, epoch }: { readonly id: string; readonly epoch: number },
  ): Promise<StartedSession | undefined> {
    const present = await this.documents.get(id);
    if (!present || present.epoch === EPOCH_OF_ENDED_SESSION) return undefined;
    const token = this.#createSessionToken(command);
    const renewed = await this.documents.claim(createFilterForUnchangedSession(present), {
      hash: hashSecretKeyForStorage(token),
      epoch,
    });
    return renewed && { session: renewed, token };
  }

  /** Stores the time of a use. If several replicas record the same use, one of them writes. */
  async storeSessionUseTime({ id, last_seen_at, expires_at }: SessionDocument, at: Timestamp): Promise<void> {
    await this.documents.claim(
      { filter: { id, last_seen_at } },
      { last_seen_at: at, ends_at: computeSessionEnd(at, expires_at) },
    );
  }

  /** Stores that a session is valid in a new epoch of its user. */
  async keepSessionValidInNewEpoch(kept: SessionDocument, epoch: number): Promise<void> {
    await this.documents.claim(createFilterForUnchangedSession(kept), { epoch });
  }

  /**
   * Deletes ended sessions. @param ending stops the deletion early; the next run continues
   * @param pace runs the deletion of each page
   */
  async deleteEndedSessions(now: Date, ending: AbortSignal, pace: BackgroundWorkThrottle): Promise<void> {
    while (!ending.aborted && (await pace.runWorkThenRest(() => this.#deletePageOfEndedSessions(now), ending)));
  }

  /** Returns true if another page may follow. */
  async #deletePageOfEndedSessions(now: Date): Promise<boolean> {
    const ended = await this.documents.find({
      filter: { ends_at: { lt: now.toISOString() } },
      sort: { fields: ['ends_at', 'id'] },
      limit: DELETION_BATCH_SIZE,
    });
    await this.documents.writeMany(ended.map(({ id, ends_at }) => ({ kind: 'delete', id, guard: { ends_at } })));
    return ended.length === DELETION_BATCH_SIZE;
  }

  #createSessionToken({ id }: { readonly id: string }): string {
    return encodeSecretToken(deriveCredentialBytes(this.options.secret, 'session', id));
  }
}

/** Matches a session that was neither ended nor renewed since it was read. */
function createFilterForUnchangedSession({ id, hash }: SessionDocument) {
  return { filter: { id, hash } };
}

/** Returns true unless a new password, a password reset or a deactivation of the user ended the session. */
export function isSessionValidInEpoch(
  { id, epoch }: SessionDocument,
  { sessions_epoch, kept_session }: SessionOwner,
): boolean {
  return epoch === sessions_epoch || (kept_session?.id === id && kept_session.epoch === sessions_epoch);
}

function computeSessionEnd(lastUse: Timestamp, expires_at: Timestamp): Timestamp {
  const idle = addMsToTime(lastUse, MAX_SESSION_IDLE_MS);
  return idle < expires_at ? idle : expires_at;
}

function addMsToTime(time: Timestamp, ms: number): Timestamp {
  return new Date(Date.parse(time) + ms).toISOString();
}

/** Returns the session as its user sees it. */
function toSession({ id, device, address, created_at, last_seen_at, expires_at }: SessionDocument): Session {
  return { id, device, address, created_at, last_seen_at, expires_at };
}

/** Patterns of browsers in order of precedence, because most browsers also send the names of their predecessors. */
const BROWSER_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgi?A?(?:OS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const OPERATING_SYSTEM_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
const MAX_DEVICE_CHARS = 50;

/**
 * Describes the client of a session by its `User-Agent`, for people only: for example `Firefox on Windows`, or the
 * first word for a program.
 */
export function describeDevice(userAgent: string | undefined): string {
  if (!userAgent) return 'unknown';
  const [browser, system] = [BROWSER_PATTERNS, OPERATING_SYSTEM_PATTERNS].map(
    (known) => known.find(([form]) => form.test(userAgent))?.[1],
  );
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? getFirstWordOfUserAgent(userAgent);
}

/** Keeps only plain characters, because a header can hold any bytes. */
function getFirstWordOfUserAgent(userAgent: string): string {
  return /^[\w.+-]+(?:\/[\w.+-]+)?/.exec(userAgent)?.[0].slice(0, MAX_DEVICE_CHARS) ?? 'unknown';
}
