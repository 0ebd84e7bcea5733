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
import { deriveId } from './secrets.ts';
import type { Sessions } from './sessions.ts';

/** Milliseconds for which audit log entries are kept. */
const RETENTION_MS = 400 * 24 * 60 * 60 * 1_000;
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
export interface OpenAuditEntry {
  readonly id: string;
  /** True if an earlier attempt of the same command began this entry. That attempt may have made the change. */
  readonly isRepeated: boolean;
}

export interface AuditFilter {
  /** Id of a user or service account, or `administration`. */
  readonly actor?: string;
  readonly type?: AuditType;
  /** Earliest and latest time of the entries, both inclusive. */
  readonly from?: Timestamp;
  readonly to?: Timestamp;
}

interface AuditPage {
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

  /** Stores the entry before the change begins. @throws Unavailable */
  async begin({ command_id, type, target_id, actor, ...known }: AuditedCommand): Promise<OpenAuditEntry> {
    const id = deriveId('aud', command_id);
    const target = { type: type.split('.', 1)[0] ?? type, id: target_id };
    const [workspace, by] = [known.workspace_id, actor.id];
    const filters: readonly AuditFilter[] = [{}, { actor: by }, { type }, { actor: by, type }];
    const isNew = await this.documents.insert({
      ...known,
      id,
      type,
      target,
      actor: { type: actor.type, id: actor.id },
      lists: filters.map((filter) => composeListName(workspace, filter)),
      changes: {},
      outcome: 'unknown',
    });
    return { id, isRepeated: !isNew };
  }

  /** Completes the entry after the change. An entry that is already complete stays unchanged. @throws Unavailable */
  async complete({ id }: OpenAuditEntry, target_id: string | null, changes: AuditedChanges): Promise<void> {
    const begun = await this.documents.get(id);
    if (begun?.outcome !== 'unknown') return;
    const target = { ...begun.target, id: target_id ?? begun.target.id };
    await this.documents.replace({ ...begun, target, changes, outcome: 'done' }, { outcome: 'unknown' });
  }

  /**
   * Deletes the entry if the change certainly did not happen. Keeps the entry of an earlier attempt, because that
   * attempt may have made the change. @throws Unavailable
   */
  async withdraw({ id, isRepeated }: OpenAuditEntry): Promise<void> {
    if (!isRepeated) await this.documents.delete(id, { outcome: 'unknown' });
  }

  /** @param after `next` of the previous page, which must have the same filter */
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
        lists: composeListName(workspace_id, filter),
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
      items: page.map((entry) => toAuditEntry(entry, names.get(entry.actor.id) ?? null)),
      next: last && found.length > limit ? [last.at, last.id] : null,
    };
  }

  /** Deletes entries after the retention period. @param ending stops the deletion early; the next run continues */
  async sweep(now: Date, ending: AbortSignal): Promise<void> {
    const before = new Date(now.getTime() - RETENTION_MS).toISOString();
    for (;;) {
      const old = await this.documents.find({
        filter: { at: { lt: before } },
        sort: { fields: ['at', 'id'] },
        limit: DELETION_BATCH_SIZE,
      });
      await this.documents.writeMany(old.map(({ id }) => ({ kind: 'delete', id })));
      if (old.length < DELETION_BATCH_SIZE || ending.aborted) return;
    }
  }
}

function composeListName(workspaceId: string, { actor, type }: AuditFilter): string {
  return [workspaceId, actor ?? '', type ?? ''].join(' ');
}

function toAuditEntry(entry: AuditDocument, name: string | null): AuditEntry {
  const { id, at, actor, type, target, changes, outcome, request_id, address } = entry;
  return { id, at, actor: { ...actor, name }, type, target, changes, outcome, request_id, address };
}

const SWEEP_INTERVAL_MS = 10 * 60 * 1_000;

export interface IdentitySweeperDependencies {
  readonly identity: { readonly sessions: Sessions; readonly auditLog: AuditLog };
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

/** Deletes ended sessions, and audit log entries after their retention period. */
export function identitySweeper(parts: IdentitySweeperDependencies): LeaderElectedJob {
  const { identity, leases, clock, logger, metrics, everyMs = SWEEP_INTERVAL_MS } = parts;
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
