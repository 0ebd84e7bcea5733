import type { Actor, AuditedChanges, AuditEntry, AuditType, Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type DocumentStore,
  type LeaseSource,
  type Logger,
  type Metrics,
  createRetryCounter,
} from '@tracking/ports';
import { BackgroundWorkThrottle, LeaderElectedJob } from '@tracking/resilience';
import { AUDIT_LOG_COLLECTION_SPEC } from './collections.ts';
import { derivePrefixedId } from './secrets.ts';
import type { Sessions } from './sessions.ts';

/** Milliseconds for which audit log entries are kept. */
const AUDIT_LOG_RETENTION_MS = 400 * 24 * 60 * 60 * 1_000;
/** Number of entries deleted at once. */
const DELETION_BATCH_SIZE = 500;

/** A change that is about to be made. */
export interface AuditedCommand {
  /** Id of the command that makes the change. A repeat with the same id continues the same entry. */
  readonly command_id: string;
  readonly at: Timestamp;
  readonly workspace_id: string;
  readonly actor: Actor;
  readonly type: AuditType;
  /** Id of the changed resource. Null if the change creates the resource. */
  readonly target_id: string | null;
  readonly request_id: string;
  readonly address: string | null;
}

/** An entry whose outcome is not known yet. */
export interface PendingAuditEntry {
  readonly id: string;
  readonly workspace_id: string;
  /** True if an earlier attempt of the same command began this entry. That attempt may have made the change. */
  readonly isRepeated: boolean;
}

export interface AuditFilter {
  /** Id of a user or service account, or `administration`. */
  readonly actor?: string;
  /** Types to include, at least one; all by default. */
  readonly types?: readonly AuditType[];
  /** Earliest and latest time of the entries, both inclusive. */
  readonly from?: Timestamp;
  readonly to?: Timestamp;
}

interface PagedAuditEntries {
  /** Newest first. */
  readonly items: readonly AuditEntry[];
  /** Position of the next page; null after the last page. */
  readonly next: readonly [Timestamp, string] | null;
}

interface AuditDocument extends Omit<AuditEntry, 'actor'> {
  readonly workspace_id: string;
  readonly actor: Actor;
  /**
   * Names of the lists that contain the entry: of all entries, by actor, by type, and by actor and type. One index on
   * these names serves every filter.
   */
  readonly lists: readonly string[];
}

/** Returns the current names of actors, by actor id. */
export type NamesOf = (actors: readonly Actor[]) => Promise<ReadonlyMap<string, string | null>>;

/**
 * Records changes with their actors. An entry is stored before its change begins, with the outcome `unknown`, and is
 * completed afterwards: even after a crash, no change is without an entry.
 */
export class AuditLog {
  private constructor(
    private readonly documents: Collection<AuditDocument>,
    private readonly namesOf: NamesOf,
  ) {}

  static async openStoreOfAuditLog(documentStore: DocumentStore, namesOf: NamesOf): Promise<AuditLog> {
    const documents = await documentStore.collection<AuditDocument>(AUDIT_LOG_COLLECTION_SPEC);
    return new AuditLog(documents, namesOf);
  }

  /** Stores the entry before the change begins. @throws UnavailableError */
  async beginAuditEntry({ command_id, type, target_id, actor, ...known }: AuditedCommand): Promise<PendingAuditEntry> {
    const id = derivePrefixedId('aud', command_id);
    const target = { type: type.split('.', 1)[0] ?? type, id: target_id };
    const [workspace, by] = [known.workspace_id, actor.id];
    const filters: readonly StoredAuditListCriteria[] = [{}, { actor: by }, { type }, { actor: by, type }];
    const isNew = await this.documents.insert({
      ...known,
      id,
      type,
      target,
      actor: { type: actor.type, id: actor.id },
      lists: filters.map((filter) => createAuditListFilterKey(workspace, filter)),
      changes: {},
      outcome: 'unknown',
    });
    return { id, workspace_id: workspace, isRepeated: !isNew };
  }

  /** Completes the entry after the change. An entry that is already complete stays unchanged. @throws UnavailableError */
  async completeAuditEntry(
    { id, workspace_id }: PendingAuditEntry,
    target_id: string | null,
    changes: AuditedChanges,
  ): Promise<void> {
    const begun = await this.documents.get(id, { workspace_id: [workspace_id] });
    if (begun?.outcome !== 'unknown') return;
    const target = { ...begun.target, id: target_id ?? begun.target.id };
    await this.documents.replace({ ...begun, target, changes, outcome: 'done' }, { outcome: 'unknown' });
  }

  /**
   * Deletes the entry if the change certainly did not happen. Keeps the entry of an earlier attempt, because that
   * attempt may have made the change. @throws UnavailableError
   */
  async withdrawAuditEntry({ id, workspace_id, isRepeated }: PendingAuditEntry): Promise<void> {
    if (!isRepeated) await this.documents.delete(id, { workspace_id, outcome: 'unknown' });
  }

  /** @param after `next` of the previous page, which must have the same filter */
  async listAuditEntries(
    workspace_id: string,
    {
      filter,
      limit,
      after,
    }: { readonly filter: AuditFilter; readonly limit: number; readonly after?: readonly string[] },
  ): Promise<PagedAuditEntries> {
    const { actor, types, from, to } = filter;
    const find = (type: AuditType | undefined, earliest: Timestamp | undefined) =>
      this.documents.find({
        filter: {
          lists: createAuditListFilterKey(workspace_id, { actor, type }),
          ...((earliest !== undefined || to !== undefined) && {
            at: { ...(earliest && { gte: earliest }), ...(to && { lte: to }) },
          }),
        },
        sort: { fields: ['at', 'id'], descending: true },
        limit: limit + 1,
        shards: { workspace_id: [workspace_id] },
        ...(after && { after }),
      });
    // One list at a time, and only its entries that can be on the page, so that few entries are in memory.
    let found: readonly AuditDocument[] = [];
    for (const type of types ?? [undefined]) {
      const next = await find(type, found[limit]?.at ?? from);
      found = found.length === 0 ? next : [...found, ...next].sort(compareNewestFirst).slice(0, limit + 1);
    }
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const names = await this.namesOf(page.map((entry) => entry.actor));
    return {
      items: page.map((entry) => toAuditEntry(entry, names.get(entry.actor.id) ?? null)),
      next: last && found.length > limit ? [last.at, last.id] : null,
    };
  }

  /**
   * Deletes entries after the retention period. @param ending stops the deletion early; the next run continues
   * @param pace runs the deletion of each page
   */
  async deleteExpiredAuditEntries(now: Date, ending: AbortSignal, pace: BackgroundWorkThrottle): Promise<void> {
    const before = new Date(now.getTime() - AUDIT_LOG_RETENTION_MS).toISOString();
    while (!ending.aborted && (await pace.runWorkThenRest(() => this.#deletePageOfAuditEntries(before), ending)));
  }

  /** Returns true if another page may follow. */
  async #deletePageOfAuditEntries(before: Timestamp): Promise<boolean> {
    const old = await this.documents.find({
      filter: { at: { lt: before } },
      sort: { fields: ['at', 'id'] },
      limit: DELETION_BATCH_SIZE,
    });
    await this.documents.writeMany(
      old.map(({ id, workspace_id }) => ({ kind: 'delete', id, guard: { workspace_id } })),
    );
    return old.length === DELETION_BATCH_SIZE;
  }
}

/** Actor and type of the entries of a stored list; absent for all. */
interface StoredAuditListCriteria {
  readonly actor?: string | undefined;
  readonly type?: AuditType | undefined;
}

function compareNewestFirst(one: AuditDocument, other: AuditDocument): number {
  return `${one.at} ${one.id}` < `${other.at} ${other.id}` ? 1 : -1;
}

function createAuditListFilterKey(workspaceId: string, { actor, type }: StoredAuditListCriteria): string {
  return [workspaceId, actor ?? '', type ?? ''].join(' ');
}

function toAuditEntry(entry: AuditDocument, name: string | null): AuditEntry {
  const { id, at, actor, type, target, changes, outcome, request_id, address } = entry;
  return { id, at, actor: { ...actor, name }, type, target, changes, outcome, request_id, address };
}

const SWEEP_INTERVAL_MS = 10 * 60 * 1_000;
/** Largest share of time that the sweep may use, so that it does not slow down requests. */
const MAX_SWEEP_SHARE = 0.2;

export interface IdentitySweeperDependencies {
  readonly identity: { readonly sessions: Sessions; readonly auditLog: AuditLog };
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

/** Returns the job that deletes ended sessions, and audit log entries after their retention period. */
export function createIdentitySweeper(parts: IdentitySweeperDependencies): LeaderElectedJob {
  const { identity, leases, clock, logger, metrics, everyMs = SWEEP_INTERVAL_MS } = parts;
  const pace = new BackgroundWorkThrottle({ share: MAX_SWEEP_SHARE });
  return new LeaderElectedJob({
    leases,
    lease: 'identity-sweeper',
    logger,
    countRetry: createRetryCounter(metrics),
    description: 'deleting ended sessions and old audit entries',
    intervalMs: everyMs,
    async runJobRound(ending) {
      await identity.sessions.deleteEndedSessions(clock(), ending, pace);
      await identity.auditLog.deleteExpiredAuditEntries(clock(), ending, pace);
    },
  });
}
