import type { Actor, AuditedChanges, AuditEntry, AuditType, Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type DocumentStore,
  type Leases,
  type Logger,
  type Metrics,
  retryCounter,
} from '@tracking/ports';
import { LeaderElectedJob } from '@tracking/resilience';
import { idFor } from './secrets.ts';
import type { Sessions } from './sessions.ts';

/** How long entries are kept. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1_000;
/** Entries that are deleted at a time. */
const BATCH = 500;

/** A change that is about to be made. */
export interface AuditedCommand {
  /** Of the command that makes it: a repeat with the same id goes on with the same entry. */
  readonly command_id: string;
  readonly at: Timestamp;
  readonly workspace_id: string;
  readonly actor: Actor;
  readonly type: AuditType;
  /** Null where it is made only now. */
  readonly target_id: string | null;
  readonly request_id: string;
  readonly address: string | null;
}

/** An entry whose outcome is not known yet. */
export interface OpenAuditEntry {
  readonly id: string;
  /** Whether an earlier try of the same command began it, and may have made the change. */
  readonly isRepeated: boolean;
}

export interface AuditFilter {
  /** Id of a user or service account, or `administration`. */
  readonly actor?: string;
  readonly type?: AuditType;
  /** Inclusive. */
  readonly from?: Timestamp;
  readonly to?: Timestamp;
}

interface AuditPage {
  /** Newest first. */
  readonly items: readonly AuditEntry[];
  /** Where the next page begins; null after the last. */
  readonly next: readonly [Timestamp, string] | null;
}

interface AuditDocument extends Omit<AuditEntry, 'actor'> {
  readonly workspace_id: string;
  readonly actor: Actor;
  /** The lists that it is in: of all, of its actor, of its type, of both. One index then serves every filter. */
  readonly lists: readonly string[];
}

/** What actors are called now, by their ids. */
export type NamesOf = (actors: readonly Actor[]) => Promise<ReadonlyMap<string, string | null>>;

/**
 * Who changed what. An entry is stored before its change is begun, with the outcome `unknown`, and completed after it:
 * whatever ends the process in between, no change is without an entry.
 */
export class AuditLog {
  private constructor(
    private readonly documents: Collection<AuditDocument>,
    private readonly namesOf: NamesOf,
  ) {}

  static async open(documentStore: DocumentStore, namesOf: NamesOf): Promise<AuditLog> {
    const order = ['at', 'id'];
    const documents = await documentStore.collection<AuditDocument>({
      name: 'audit_log',
      indexes: [
        { name: 'list', fields: ['lists', ...order], arrayField: 'lists' },
        { name: 'age', fields: order },
      ],
    });
    return new AuditLog(documents, namesOf);
  }

  /** Before the change is begun. @throws Unavailable */
  async begin({ command_id, type, target_id, actor, ...known }: AuditedCommand): Promise<OpenAuditEntry> {
    const id = idFor('aud', command_id);
    const target = { type: type.split('.', 1)[0] ?? type, id: target_id };
    const [workspace, by] = [known.workspace_id, actor.id];
    const filters: readonly AuditFilter[] = [{}, { actor: by }, { type }, { actor: by, type }];
    const isNew = await this.documents.insert({
      ...known,
      id,
      type,
      target,
      actor: { type: actor.type, id: actor.id },
      lists: filters.map((filter) => listOf(workspace, filter)),
      changes: {},
      outcome: 'unknown',
    });
    return { id, isRepeated: !isNew };
  }

  /** After the change. What an earlier try completed stays as it is. @throws Unavailable */
  async complete({ id }: OpenAuditEntry, target_id: string | null, changes: AuditedChanges): Promise<void> {
    const begun = await this.documents.get(id);
    if (begun?.outcome !== 'unknown') return;
    const target = { ...begun.target, id: target_id ?? begun.target.id };
    await this.documents.replace({ ...begun, target, changes, outcome: 'done' }, { outcome: 'unknown' });
  }

  /** After it was certain that nothing changed; an entry of an earlier try stays, since that one may have. @throws Unavailable */
  async withdraw({ id, isRepeated }: OpenAuditEntry): Promise<void> {
    if (!isRepeated) await this.documents.delete(id, { outcome: 'unknown' });
  }

  /** @param after `next` of the page before, which had the same filter */
  async list(
    workspace_id: string,
    {
      filter,
      limit,
      after,
    }: { readonly filter: AuditFilter; readonly limit: number; readonly after?: readonly string[] },
  ): Promise<AuditPage> {
    const { from, to } = filter;
    const found = await this.documents.find({
      filter: {
        lists: listOf(workspace_id, filter),
        ...((from !== undefined || to !== undefined) && { at: { ...(from && { gte: from }), ...(to && { lte: to }) } }),
      },
      sort: { fields: ['at', 'id'], descending: true },
      limit: limit + 1,
      ...(after && { after }),
    });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const names = await this.namesOf(page.map((entry) => entry.actor));
    return {
      items: page.map((entry) => auditEntry(entry, names.get(entry.actor.id) ?? null)),
      next: last && found.length > limit ? [last.at, last.id] : null,
    };
  }

  /** Deletes what was kept long enough. @param ending leaves the rest to the next time */
  async sweep(now: Date, ending: AbortSignal): Promise<void> {
    const before = new Date(now.getTime() - KEPT_MS).toISOString();
    for (;;) {
      const old = await this.documents.find({
        filter: { at: { lt: before } },
        sort: { fields: ['at', 'id'] },
        limit: BATCH,
      });
      await this.documents.writeMany(old.map(({ id }) => ({ kind: 'delete', id })));
      if (old.length < BATCH || ending.aborted) return;
    }
  }
}

function listOf(workspaceId: string, { actor, type }: AuditFilter): string {
  return [workspaceId, actor ?? '', type ?? ''].join(' ');
}

function auditEntry(entry: AuditDocument, name: string | null): AuditEntry {
  const { id, at, actor, type, target, changes, outcome, request_id, address } = entry;
  return { id, at, actor: { ...actor, name }, type, target, changes, outcome, request_id, address };
}

const EVERY_MS = 10 * 60 * 1_000;

export interface IdentitySweeperParts {
  readonly identity: { readonly sessions: Sessions; readonly auditLog: AuditLog };
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

/** Deletes sessions that ended and entries of the audit log that were kept long enough. */
export function identitySweeper(parts: IdentitySweeperParts): LeaderElectedJob {
  const { identity, leases, clock, logger, metrics, everyMs = EVERY_MS } = parts;
  return new LeaderElectedJob({
    leases,
    lease: 'identity-sweeper',
    logger,
    countRetry: retryCounter(metrics),
    description: 'deleting ended sessions and old audit entries',
    intervalMs: everyMs,
    async round(ending) {
      await identity.sessions.sweep(clock(), ending);
      await identity.auditLog.sweep(clock(), ending);
    },
  });
}
