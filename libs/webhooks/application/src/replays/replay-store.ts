import { type ItemPage, type PageRequest, type Timestamp, isResourceInScope } from '@tracking/contracts';
import { type Collection, type CollectionSpec, type Document, DuplicateKeyError, type Position } from '@tracking/ports';
import { type BackgroundWorkThrottle, retryConflicts } from '@tracking/resilience';
import { type NewReplay, type Replay, createReplay, cancelReplay } from '@tracking/webhooks-domain';
import type { ExistingReplayCommand, WorkspaceScope, WebhookReplay } from '../operation-types.ts';
import { readFirstDocumentPerValue } from '../store/delivery-queues.ts';
import { isRepeatedCommand, replayNotFoundError, createReplayRunningError } from '../webhooks-api.ts';

/** Progress of a replay: the last delivery and the last event that it took. */
export interface ReplayCursor {
  /** `created_at` and `id` of the last delivery taken; null before the first. */
  readonly deliveries: readonly [created_at: string, id: string] | null;
  /** Log position of the last event taken, as returned by `EventLog.page`; null before the first. */
  readonly events: string | null;
}

/** A delivery that a replay took and whose outcome is not counted yet. */
export interface DeliveryTakenByReplay {
  readonly id: string;
  /** Id of the event, from which a delivery that is not recorded yet is created. */
  readonly event_id: string;
}

export interface ReplayDocument extends Document, Replay {
  /**
   * Endpoint id while the replay runs. A unique index allows one running replay for each endpoint. Absent once the
   * replay has ended.
   */
  readonly running_for?: string;
  /** Present on a discard job while it runs. */
  readonly discarding?: true;
  /** Id of the command that started the replay together with others; absent if it was started alone. */
  readonly requested_by?: string;
  /**
   * Head of the event store when the replay was created. Events missed up to here are part of the replay. Absent if no
   * event was stored.
   */
  readonly log_head?: Position;
  readonly cursor: ReplayCursor;
  /**
   * Deliveries taken by the replay. The list is stored before the deliveries get a new schedule, so that the next owner
   * can complete the work.
   */
  readonly under_way: readonly DeliveryTakenByReplay[];
  /** Id of the last command that changed the replay; absent if no command has since its creation. */
  readonly changed_by?: string;
}

const REPLAY_CREATION_ORDER_FIELDS = ['created_at', 'id'];

export const REPLAYS_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_replays',
  indexes: [
    { name: 'running', fields: ['running_for'], unique: true },
    { name: 'scope', fields: ['workspace_id', 'environment', ...REPLAY_CREATION_ORDER_FIELDS] },
    { name: 'endpoint', fields: ['endpoint_id', ...REPLAY_CREATION_ORDER_FIELDS] },
    { name: 'age', fields: REPLAY_CREATION_ORDER_FIELDS },
    { name: 'discarding', fields: ['discarding', ...REPLAY_CREATION_ORDER_FIELDS], only: 'discarding' },
    { name: 'requested', fields: ['requested_by'], only: 'requested_by' },
  ],
};

/** Collection of replays for progress writes. After a power cut, lost progress is rebuilt from the deliveries. */
export const REPLAY_PROGRESS_COLLECTION_SPEC: CollectionSpec = { ...REPLAYS_COLLECTION_SPEC, durability: 'ordered' };

/** Creates the document of a new replay. */
export function createReplayDocument(about: NewReplay, at: Timestamp): ReplayDocument {
  const cursor = { deliveries: null, events: null };
  return setIndexFieldsOfReplayDocument({ ...createReplay(about, at), cursor, under_way: [] });
}

/** Adds the index fields of a running replay, and removes those of a replay that has ended. */
function setIndexFieldsOfReplayDocument({
  running_for: _place,
  discarding: _job,
  ...document
}: ReplayDocument): ReplayDocument {
  if (document.status !== 'running') return document;
  return document.action === 'replay'
    ? { ...document, running_for: document.endpoint_id }
    : { ...document, discarding: true };
}

export function convertToWebhookReplay(document: ReplayDocument): WebhookReplay {
  return {
    id: document.id,
    endpoint_id: document.endpoint_id,
    action: document.action,
    since: document.since,
    until: document.until,
    event_types: document.event_types,
    statuses: document.statuses,
    reasons: document.reasons,
    delivery_ids: document.delivery_ids ?? null,
    status: document.status,
    matched: document.matched,
    done: document.done,
    failed: document.failed,
    created_at: document.created_at,
    completed_at: document.completed_at,
    version: document.revision,
  };
}

const REPLAYS_PER_SWEEP = 100;
/** Limit on the replays of one command. Higher than the number of endpoints in a scope, including deleted endpoints. */
const MAX_REPLAYS_PER_COMMAND = 5_000;
const OLDEST_FIRST_ORDER = { fields: REPLAY_CREATION_ORDER_FIELDS } as const;
const NEWEST_FIRST_ORDER = { fields: REPLAY_CREATION_ORDER_FIELDS, descending: true } as const;

export type ReplayChange = (document: ReplayDocument) => ReplayDocument;

/** The stored replays. Only one runs for an endpoint at a time: a unique index refuses a second one. */
export class ReplayStore {
  /** @param progress the same collection, for writes of progress, which a power cut may lose */
  constructor(
    private readonly documents: Collection<ReplayDocument>,
    private readonly progress: Collection<ReplayDocument>,
  ) {}

  /**
   * Stores a replay. If the id already exists, the command was repeated, and the stored replay is returned. @throws
   * replay_running
   */
  async addReplay(document: ReplayDocument): Promise<ReplayDocument> {
    return (await this.rejectSecondReplay(this.documents.insert(document)))
      ? document
      : ((await this.documents.get(document.id)) ?? document);
  }

  getReplay(id: string): Promise<ReplayDocument | undefined> {
    return this.documents.get(id);
  }

  /** @throws not_found if the replay is not in this scope */
  async requireReplay(scope: WorkspaceScope, id: string): Promise<ReplayDocument> {
    const found = await this.documents.get(id);
    if (found === undefined || !isResourceInScope(found, scope)) throw replayNotFoundError();
    return found;
  }

  /** Lists the replays of the endpoint or of the scope, newest first. */
  async listReplays(
    { workspace_id, environment, endpoint_id }: WorkspaceScope & { readonly endpoint_id?: string },
    { limit, after }: PageRequest,
  ): Promise<ItemPage<ReplayDocument>> {
    const scope = { workspace_id, environment };
    // No filter by scope is needed: all replays of an endpoint are in the endpoint's scope.
    const filter = endpoint_id === undefined ? scope : { endpoint_id };
    const resume = after === undefined ? {} : { after };
    const read = await this.documents.find({ filter, sort: NEWEST_FIRST_ORDER, limit: limit + 1, ...resume });
    const found = read.filter((replay) => isResourceInScope(replay, scope));
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, next: found.length > limit && last !== undefined ? [last.created_at, last.id] : null };
  }

  /** Returns the running replay of the endpoint. */
  async findRunningReplay(endpointId: string): Promise<ReplayDocument | undefined> {
    const [running] = await this.documents.find({ filter: { running_for: endpointId }, limit: 1 });
    return running;
  }

  /** Returns true if the endpoint has a replay, running or ended. */
  async hasReplays(endpointId: string): Promise<boolean> {
    const found = await this.documents.find({ filter: { endpoint_id: endpointId }, limit: 1 });
    return found.length > 0;
  }

  /** Yields the id of every endpoint with a running replay. */
  async *listReplayingEndpoints(): AsyncIterable<string> {
    for await (const { running_for } of readFirstDocumentPerValue(this.documents, ['running_for'])) {
      if (running_for !== undefined) yield running_for;
    }
  }

  /**
   * Applies a command's change to the stored replay. If another process changed the replay in the meantime, applies the
   * change again to the new version. A repeated command changes nothing.
   * @throws PreconditionFailedError, replay_running, BusyError
   */
  applyCommandToStoredReplay(command: ExistingReplayCommand, change: ReplayChange): Promise<ReplayDocument> {
    return retryConflicts(this.documents, `replay ${command.replay_id}`, async () => {
      const before = await this.requireReplay(command, command.replay_id);
      if (isRepeatedCommand(before, command)) return before;
      const after = change(before);
      if (after === before) return before;
      const written = setIndexFieldsOfReplayDocument({
        ...after,
        changed_by: command.id,
        revision: before.revision + 1,
      });
      const isWritten = await this.rejectSecondReplay(this.documents.replace(written, { revision: before.revision }));
      return isWritten ? written : undefined;
    });
  }

  /** Cancels the running replay of a deleted endpoint. */
  async cancelRunningReplay(endpointId: string, at: Timestamp): Promise<void> {
    for (;;) {
      const running = await this.findRunningReplay(endpointId);
      if (running === undefined) return;
      const written = setIndexFieldsOfReplayDocument({ ...cancelReplay(running, at), revision: running.revision + 1 });
      if (await this.documents.replace(written, { revision: running.revision })) return;
    }
  }

  /** Stores the replay's progress. Returns the stored replay; undefined if it was changed in the meantime. */
  async storeReplayProgress(
    before: ReplayDocument,
    change: Partial<ReplayDocument>,
  ): Promise<ReplayDocument | undefined> {
    const after = setIndexFieldsOfReplayDocument({ ...before, ...change, revision: before.revision + 1 });
    const isWritten = await this.progress.replace(after, { revision: before.revision });
    return isWritten ? after : undefined;
  }

  /** Lists the running discard jobs, oldest first. */
  listRunningDiscardJobs(limit: number): Promise<readonly ReplayDocument[]> {
    return this.documents.find({ filter: { discarding: true }, sort: OLDEST_FIRST_ORDER, limit });
  }

  /** Lists the replays that a command started. */
  listReplaysOfCommand(commandId: string): Promise<readonly ReplayDocument[]> {
    return this.documents.find({ filter: { requested_by: commandId }, limit: MAX_REPLAYS_PER_COMMAND });
  }

  /**
   * Stores the outcomes of the taken deliveries, even if the replay was canceled. No-op if another process already
   * stored these outcomes.
   */
  async storeReplayOutcomeCounts(
    taken: ReplayDocument,
    { done, failed }: Pick<ReplayDocument, 'done' | 'failed'>,
  ): Promise<void> {
    for (;;) {
      const now = await this.documents.get(taken.id);
      if (now === undefined || now.under_way[0]?.id !== taken.under_way[0]?.id) return;
      const change = { under_way: [], done: now.done + done, failed: now.failed + failed };
      if ((await this.storeReplayProgress(now, change)) !== undefined) return;
    }
  }

  /** Deletes replays that ended before this time. A replay that was resumed after the page was read is kept. */
  async deleteEndedReplays(before: Timestamp, pace: BackgroundWorkThrottle, ending: AbortSignal): Promise<void> {
    let last: ReplayDocument | undefined;
    while (!ending.aborted) {
      last = await pace.runWorkThenRest(() => this.deletePageOfOldReplays(before, last), ending);
      if (last === undefined) return;
    }
  }

  /** @returns the last replay of the page; undefined at the end */
  private async deletePageOfOldReplays(
    before: Timestamp,
    last: ReplayDocument | undefined,
  ): Promise<ReplayDocument | undefined> {
    const resume = last === undefined ? {} : { after: [last.created_at, last.id] };
    const page = { sort: OLDEST_FIRST_ORDER, limit: REPLAYS_PER_SWEEP, ...resume };
    const old = await this.documents.find({ filter: { created_at: { lt: before } }, index: 'age', ...page });
    const isOver = ({ status, completed_at }: ReplayDocument) =>
      status !== 'running' && completed_at !== null && completed_at < before;
    for (const { id, revision } of old.filter(isOver)) await this.documents.delete(id, { revision });
    return old.at(-1);
  }

  private async rejectSecondReplay(write: Promise<boolean>): Promise<boolean> {
    try {
      return await write;
    } catch (error) {
      throw error instanceof DuplicateKeyError ? createReplayRunningError() : error;
    }
  }
}
