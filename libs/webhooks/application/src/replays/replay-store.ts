import { type ItemPage, type PageRequest, type Timestamp, isInScope } from '@tracking/contracts';
import { type Collection, type CollectionSpec, type Document, DuplicateKey, type Position } from '@tracking/ports';
import { type DutyCycle, retryConflicts } from '@tracking/resilience';
import { type NewReplay, type Replay, newReplay, cancelReplay } from '@tracking/webhooks-domain';
import type { ReplayCommand, Scope, WebhookReplay } from '../operation-types.ts';
import { firstPerValue } from '../store/delivery-queues.ts';
import { isRepeatedCommand, noSuchReplay, replayRunning } from '../webhooks-api.ts';

/** How far a replay has come: the last delivery and the last event that were taken. */
export interface ReplayCursor {
  /** `created_at` and `id` of a delivery; null before the first. */
  readonly deliveries: readonly [created_at: string, id: string] | null;
  /** A position as `EventLog.page` returns it; null before the first. */
  readonly events: string | null;
}

/** A delivery that was taken, and whose outcome is not counted yet. */
export interface TakenDelivery {
  readonly id: string;
  /** A delivery that is not recorded yet is made from this event. */
  readonly event_id: string;
}

export interface ReplayDocument extends Document, Replay {
  /** The endpoint while the replay runs, which is the only one of the endpoint then. Absent once it has ended. */
  readonly running_for?: string;
  /** Set on a discard while it runs. */
  readonly discarding?: true;
  /** Id of the command that began it together with others; absent if it was begun alone. */
  readonly requested_by?: string;
  /** Head of the event store when it was made: events missed by then are part of it. Absent if no event was stored. */
  readonly log_head?: Position;
  readonly cursor: ReplayCursor;
  /** Stored before they get their new schedule, so that the next owner finds those that did not get it. */
  readonly under_way: readonly TakenDelivery[];
  /** Id of the last command that changed it; absent if none did since it was made. */
  readonly changed_by?: string;
}

const SORT_FIELDS = ['created_at', 'id'];

export const REPLAYS: CollectionSpec = {
  name: 'webhook_replays',
  indexes: [
    { name: 'running', fields: ['running_for'], unique: true },
    { name: 'scope', fields: ['workspace_id', 'environment', ...SORT_FIELDS] },
    { name: 'endpoint', fields: ['endpoint_id', ...SORT_FIELDS] },
    { name: 'age', fields: SORT_FIELDS },
    { name: 'discarding', fields: ['discarding', ...SORT_FIELDS], only: 'discarding' },
    { name: 'requested', fields: ['requested_by'], only: 'requested_by' },
  ],
};

/** The same collection for the progress, which is written with every page and rebuilt from the deliveries after a power cut. */
export const REPLAY_PROGRESS: CollectionSpec = { ...REPLAYS, durability: 'ordered' };

/** A replay that begins. */
export function newReplayDocument(about: NewReplay, at: Timestamp): ReplayDocument {
  const cursor = { deliveries: null, events: null };
  return withIndexFields({ ...newReplay(about, at), cursor, under_way: [] });
}

/** Adds the fields by which a running replay is found, and removes them from one that has ended. */
function withIndexFields({ running_for: _place, discarding: _job, ...document }: ReplayDocument): ReplayDocument {
  if (document.status !== 'running') return document;
  return document.action === 'replay'
    ? { ...document, running_for: document.endpoint_id }
    : { ...document, discarding: true };
}

export function toReplay(document: ReplayDocument): WebhookReplay {
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
/** More than a scope has endpoints, deleted ones included. */
const MAX_REPLAYS_OF_COMMAND = 5_000;
const OLDEST_FIRST = { fields: SORT_FIELDS } as const;
const NEWEST_FIRST = { fields: SORT_FIELDS, descending: true } as const;

export type ReplayChange = (document: ReplayDocument) => ReplayDocument;

/** The stored replays. One runs for an endpoint at a time: the unique index refuses a second one. */
export class ReplayStore {
  /** @param progress the same documents, for writes that are made again if they are lost */
  constructor(
    private readonly documents: Collection<ReplayDocument>,
    private readonly progress: Collection<ReplayDocument>,
  ) {}

  /** Stores a replay. Returns the stored one if its id exists: the command was repeated. @throws replay_running */
  async add(document: ReplayDocument): Promise<ReplayDocument> {
    return (await this.rejectSecondReplay(this.documents.insert(document)))
      ? document
      : ((await this.documents.get(document.id)) ?? document);
  }

  get(id: string): Promise<ReplayDocument | undefined> {
    return this.documents.get(id);
  }

  /** @throws not_found if it is not of this scope */
  async require(scope: Scope, id: string): Promise<ReplayDocument> {
    const found = await this.documents.get(id);
    if (found === undefined || !isInScope(found, scope)) throw noSuchReplay();
    return found;
  }

  /** Newest first: those of the endpoint, or of the scope. */
  async list(
    { workspace_id, environment, endpoint_id }: Scope & { readonly endpoint_id?: string },
    { limit, after }: PageRequest,
  ): Promise<ItemPage<ReplayDocument>> {
    const scope = { workspace_id, environment };
    // All replays of an endpoint are of one scope.
    const filter = endpoint_id === undefined ? scope : { endpoint_id };
    const resume = after === undefined ? {} : { after };
    const read = await this.documents.find({ filter, sort: NEWEST_FIRST, limit: limit + 1, ...resume });
    const found = read.filter((replay) => isInScope(replay, scope));
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, next: found.length > limit && last !== undefined ? [last.created_at, last.id] : null };
  }

  /** The replay that runs for the endpoint. */
  async findRunning(endpointId: string): Promise<ReplayDocument | undefined> {
    const [running] = await this.documents.find({ filter: { running_for: endpointId }, limit: 1 });
    return running;
  }

  /** Returns true if the endpoint has a replay, running or ended. */
  async hasReplays(endpointId: string): Promise<boolean> {
    const found = await this.documents.find({ filter: { endpoint_id: endpointId }, limit: 1 });
    return found.length > 0;
  }

  /** Every endpoint for which a replay runs. */
  async *endpoints(): AsyncIterable<string> {
    for await (const { running_for } of firstPerValue(this.documents, ['running_for'])) {
      if (running_for !== undefined) yield running_for;
    }
  }

  /**
   * Applies a command's change to the present replay, and again to its newer form if it was changed in between. A repeated
   * command changes nothing.
   * @throws PreconditionFailed, replay_running, Busy
   */
  applyCommand(command: ReplayCommand, change: ReplayChange): Promise<ReplayDocument> {
    return retryConflicts(`replay ${command.replay_id}`, async () => {
      const before = await this.require(command, command.replay_id);
      if (isRepeatedCommand(before, command)) return before;
      const after = change(before);
      if (after === before) return before;
      const written = withIndexFields({ ...after, changed_by: command.id, revision: before.revision + 1 });
      const isWritten = await this.rejectSecondReplay(this.documents.replace(written, { revision: before.revision }));
      return isWritten ? written : undefined;
    });
  }

  /** Cancels the replay that runs for a deleted endpoint. */
  async cancelRunning(endpointId: string, at: Timestamp): Promise<void> {
    for (;;) {
      const running = await this.findRunning(endpointId);
      if (running === undefined) return;
      const written = withIndexFields({ ...cancelReplay(running, at), revision: running.revision + 1 });
      if (await this.documents.replace(written, { revision: running.revision })) return;
    }
  }

  /** Stores how far it has come. Returns it as stored; undefined if it was changed meanwhile. */
  async storeProgress(before: ReplayDocument, change: Partial<ReplayDocument>): Promise<ReplayDocument | undefined> {
    const after = withIndexFields({ ...before, ...change, revision: before.revision + 1 });
    const isWritten = await this.progress.replace(after, { revision: before.revision });
    return isWritten ? after : undefined;
  }

  /** The running discards, oldest first. */
  listDiscards(limit: number): Promise<readonly ReplayDocument[]> {
    return this.documents.find({ filter: { discarding: true }, sort: OLDEST_FIRST, limit });
  }

  /** The replays that one command began. */
  listByCommand(commandId: string): Promise<readonly ReplayDocument[]> {
    return this.documents.find({ filter: { requested_by: commandId }, limit: MAX_REPLAYS_OF_COMMAND });
  }

  /** Stores the outcomes of the taken deliveries, also if the replay was canceled. No-op if another process did so. */
  async storeOutcomes(taken: ReplayDocument, { done, failed }: Pick<ReplayDocument, 'done' | 'failed'>): Promise<void> {
    for (;;) {
      const now = await this.documents.get(taken.id);
      if (now === undefined || now.under_way[0]?.id !== taken.under_way[0]?.id) return;
      const change = { under_way: [], done: now.done + done, failed: now.failed + failed };
      if ((await this.storeProgress(now, change)) !== undefined) return;
    }
  }

  /** Deletes replays that ended before then. A replay that is resumed meanwhile stays. */
  async sweep(before: Timestamp, pace: DutyCycle, ending: AbortSignal): Promise<void> {
    let last: ReplayDocument | undefined;
    while (!ending.aborted) {
      last = await pace.run(() => this.sweepPage(before, last), ending);
      if (last === undefined) return;
    }
  }

  /** @returns the last replay of the page, undefined at the end */
  private async sweepPage(before: Timestamp, last: ReplayDocument | undefined): Promise<ReplayDocument | undefined> {
    const resume = last === undefined ? {} : { after: [last.created_at, last.id] };
    const page = { sort: OLDEST_FIRST, limit: REPLAYS_PER_SWEEP, ...resume };
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
      throw error instanceof DuplicateKey ? replayRunning() : error;
    }
  }
}
