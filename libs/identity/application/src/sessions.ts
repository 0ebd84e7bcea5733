import { DomainError, type PageOf, type PageRequest, type Session, type Timestamp } from '@tracking/contracts';
import type { Clock, Collection, DocumentStore } from '@tracking/ports';
import { newestFirstOf } from './records.ts';
import { derivedBytes, hashOf, idFor, tokenOf } from './secrets.ts';
import type { UserDocument } from './user-store.ts';

const HOUR_MS = 60 * 60 * 1_000;
/** A session ends when nothing was asked with it for so long, */
const IDLE_MS = 12 * HOUR_MS;
/** and after this time whatever was. */
const LONGEST_MS = 30 * 24 * HOUR_MS;
/** Sessions that are deleted at a time. */
const BATCH = 200;

/** What the sessions of a user depend on. */
type SessionOwner = Pick<UserDocument, 'id' | 'workspace_id' | 'sessions_epoch' | 'kept_session'>;

export interface SessionDocument extends Session {
  readonly workspace_id: string;
  readonly user_id: string;
  /** SHA-256 of the token in the cookie, in hex. */
  readonly hash: string;
  /** The owner's `sessions_epoch` when it began. */
  readonly epoch: number;
  /** When it ends unless it is used before. */
  readonly ends_at: Timestamp;
}

/** Where somebody signs in from. */
export interface SignInOrigin {
  readonly address: string;
  /** As the client calls itself. */
  readonly user_agent: string | undefined;
}

export interface BegunSession {
  readonly session: SessionDocument;
  /** For the cookie; stored nowhere. */
  readonly token: string;
}

interface SessionsOptions {
  readonly users: Pick<Collection<UserDocument>, 'get'>;
  readonly clock: Clock;
  /** What tokens derive from. */
  readonly secret: Uint8Array;
  /** Told in this process as soon as the end of a session is stored. */
  readonly onEnded: (session: Pick<SessionDocument, 'hash'>) => void;
}

/** Sign-ins of users. */
export class Sessions {
  private constructor(
    readonly documents: Collection<SessionDocument>,
    private readonly options: SessionsOptions,
  ) {}

  static async open(documentStore: DocumentStore, options: SessionsOptions): Promise<Sessions> {
    const documents = await documentStore.collection<SessionDocument>({
      name: 'sessions',
      indexes: [
        { name: 'hash', fields: ['hash'], unique: true },
        { name: 'user', fields: ['user_id', 'epoch', 'created_at', 'id'] },
        { name: 'end', fields: ['ends_at', 'id'] },
      ],
    });
    return new Sessions(documents, options);
  }

  /** Begins one; a repeat of the command answers the same. */
  async begin(
    command: { readonly id: string; readonly at: Timestamp },
    owner: SessionOwner,
    { address, user_agent }: SignInOrigin,
  ): Promise<BegunSession> {
    const token = tokenOf(derivedBytes(this.options.secret, 'session', command.id));
    const expires_at = later(command.at, LONGEST_MS);
    const session: SessionDocument = {
      id: idFor('ses', command.id),
      workspace_id: owner.workspace_id,
      user_id: owner.id,
      device: deviceOf(user_agent),
      address,
      created_at: command.at,
      last_seen_at: command.at,
      expires_at,
      hash: hashOf(token),
      epoch: owner.sessions_epoch,
      ends_at: endOf(command.at, expires_at),
    };
    await this.documents.insert(session);
    return { session, token };
  }

  /** Those of a user that have not ended, newest first. */
  async list(user_id: string, request: PageRequest): Promise<PageOf<Session>> {
    const user = await this.options.users.get(user_id);
    if (!user) return { items: [], next: null };
    const epoch = user.sessions_epoch;
    const now = this.options.clock().toISOString();
    // Those that ended by themselves lie in between until they are swept.
    const { items, next } = await newestFirstOf(this.documents, { user_id, epoch }, request, async (found) =>
      found.filter(({ ends_at }) => ends_at > now),
    );
    return { items: items.map(session), next };
  }

  /** Ends one of a user's. @throws DomainError `not_found`, also for one of somebody else */
  async end(userId: string, id: string): Promise<Session> {
    const ended = await this.documents.get(id);
    if (ended?.user_id !== userId) throw new DomainError('not_found', 'You have no such session.');
    await this.documents.delete(id);
    this.options.onEnded(ended);
    return session(ended);
  }

  /** Notes a use, beside the request; of several replicas that see the same old time one writes. */
  async noteUse({ id, last_seen_at, expires_at }: SessionDocument, at: Timestamp): Promise<void> {
    await this.documents.claim({ filter: { id, last_seen_at } }, { last_seen_at: at, ends_at: endOf(at, expires_at) });
  }

  /** Lets one go on under a new number of its owner. */
  async keep(id: string, epoch: number): Promise<void> {
    await this.documents.claim({ filter: { id } }, { epoch });
  }

  /** Deletes those that ended. @param ending leaves the rest to the next time */
  async sweep(now: Date, ending: AbortSignal): Promise<void> {
    for (;;) {
      const ended = await this.documents.find({
        filter: { ends_at: { lt: now.toISOString() } },
        sort: { fields: ['ends_at', 'id'] },
        limit: BATCH,
      });
      await this.documents.writeMany(ended.map(({ id, ends_at }) => ({ kind: 'delete', id, guard: { ends_at } })));
      if (ended.length < BATCH || ending.aborted) return;
    }
  }
}

/** Whether neither its owner's password nor its owner's status has ended it. */
export function isOfEpoch({ id, epoch }: SessionDocument, { sessions_epoch, kept_session }: SessionOwner): boolean {
  return epoch === sessions_epoch || (kept_session?.id === id && kept_session.epoch === sessions_epoch);
}

function endOf(lastUse: Timestamp, expires_at: Timestamp): Timestamp {
  const idle = later(lastUse, IDLE_MS);
  return idle < expires_at ? idle : expires_at;
}

function later(time: Timestamp, ms: number): Timestamp {
  return new Date(Date.parse(time) + ms).toISOString();
}

/** As its owner sees it. */
function session({ id, device, address, created_at, last_seen_at, expires_at }: SessionDocument): Session {
  return { id, device, address, created_at, last_seen_at, expires_at };
}

/** In this order: most browsers also name those that they descend from. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgi?A?(?:OS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
const MAX_LENGTH = 50;

/**
 * What a person recognises a session by, as `Firefox on Windows`, as far as a `User-Agent` tells; of a program the first
 * word. For people alone: nothing is decided by it.
 */
export function deviceOf(userAgent: string | undefined): string {
  if (!userAgent) return 'unknown';
  const [browser, system] = [BROWSERS, SYSTEMS].map((known) => known.find(([form]) => form.test(userAgent))?.[1]);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? firstWord(userAgent);
}

/** A header holds any bytes: only what is plain to read is kept. */
function firstWord(userAgent: string): string {
  return /^[\w.+-]+(?:\/[\w.+-]+)?/.exec(userAgent)?.[0].slice(0, MAX_LENGTH) ?? 'unknown';
}
