import { hash } from 'node:crypto';
import { DomainError, type ItemPage, type Timestamp, chooseLatestTime } from '@tracking/contracts';
import type { EventStore } from '@tracking/ports';
import {
  DEFAULT_REPLAYED_STATUSES,
  type ReplayFilter,
  isEndpointEnabled,
  cancelReplay,
  resumeReplay,
} from '@tracking/webhooks-domain';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { EndpointShardOwner } from '../ownership/shard-owner.ts';
import type { DeadLetterDiscarder } from '../replays/discard-jobs.ts';
import { excludeMissedStatus } from '../replays/replay-source.ts';
import {
  type ReplayChange,
  type ReplayDocument,
  type ReplayStore,
  createReplayDocument,
  convertToWebhookReplay,
} from '../replays/replay-store.ts';
import type {
  CreateReplayCommand,
  ListReplaysRequest,
  ExistingReplayCommand,
  WorkspaceScope,
  WebhookReplay,
} from '../operation-types.ts';
import type { DeliveryQueries } from '../store/delivery-queries.ts';
import {
  type WebhookReplayOperations,
  endpointNotEnabledError,
  validationError,
  createReplayCompletedError,
} from '../webhooks-api.ts';

interface ReplaysDependencies {
  readonly store: ReplayStore;
  readonly queries: DeliveryQueries;
  readonly endpoints: EndpointStore;
  readonly owner: EndpointShardOwner;
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly discarding: DeadLetterDiscarder;
}

/** Use cases of replays: docs/reference/delivery.md#replays. */
export class Replays implements WebhookReplayOperations {
  constructor(private readonly dependencies: ReplaysDependencies) {}

  async create(command: CreateReplayCommand): Promise<WebhookReplay> {
    const { store, owner, eventStore } = this.dependencies;
    const { workspace_id, environment, endpoint_id, at, filter } = command;
    const id = `rpl_${hash('sha256', command.id).slice(0, 32)}`;
    let stored = await store.getReplay(id);
    if (stored === undefined) {
      await this.requireEnabledEndpoint(command, endpoint_id);
      const about = { id, workspace_id, environment, endpoint_id, action: 'replay' } as const;
      // The replay ends only after the log of published events, which lags, has reached this position.
      const log_head = await eventStore.head();
      const until = log_head === undefined ? {} : { log_head };
      const which = checkAndLimitReplayFilter(filter, await this.findLatestReplayableTime(command));
      stored = await this.addReplay({ ...createReplayDocument({ ...about, ...which }, at), ...until });
    }
    await owner.notifyOwningProcesses([endpoint_id]);
    return convertToWebhookReplay(stored);
  }

  async list(request: ListReplaysRequest): Promise<ItemPage<WebhookReplay>> {
    const { items, next } = await this.dependencies.store.listReplays(request, request);
    return { items: items.map(convertToWebhookReplay), next };
  }

  async get(request: WorkspaceScope & { readonly replay_id: string }): Promise<WebhookReplay> {
    return convertToWebhookReplay(await this.dependencies.store.requireReplay(request, request.replay_id));
  }

  cancel(command: ExistingReplayCommand): Promise<WebhookReplay> {
    return this.applyReplayCommand(command, (replay) => cancelReplay(replay, command.at));
  }

  async resume(command: ExistingReplayCommand): Promise<WebhookReplay> {
    const { endpoint_id, action } = await this.dependencies.store.requireReplay(command, command.replay_id);
    if (action === 'replay') await this.requireEnabledEndpoint(command, endpoint_id);
    return this.applyReplayCommand(command, (replay) => {
      if (replay.status === 'completed') throw createReplayCompletedError();
      return resumeReplay(replay);
    });
  }

  /** Returns the command's time or the creation time of the newest matching delivery, whichever is later. */
  private async findLatestReplayableTime(command: CreateReplayCommand): Promise<Timestamp> {
    const { endpoint_id, at, filter } = command;
    const statuses = excludeMissedStatus(filter.statuses ?? DEFAULT_REPLAYED_STATUSES);
    const newest = await this.dependencies.queries.findDeliveries([command], { endpoint_id, statuses }, { limit: 1 });
    return chooseLatestTime(
      at,
      ...newest.flatMap(({ created_at, event_created_at }) => [created_at, event_created_at]),
    );
  }

  /** @throws replay_running */
  private async addReplay(replay: ReplayDocument): Promise<ReplayDocument> {
    const { store, owner } = this.dependencies;
    try {
      return await store.addReplay(replay);
    } catch (error) {
      // Notify the owner again: the process that started this replay may have ended before it did.
      if (error instanceof DomainError) await owner.notifyOwningProcesses([replay.endpoint_id]);
      throw error;
    }
  }

  private async applyReplayCommand(command: ExistingReplayCommand, change: ReplayChange): Promise<WebhookReplay> {
    const after = await this.dependencies.store.applyCommandToStoredReplay(command, change);
    // Notify the endpoint's owner even if nothing changed: the first notification may have been lost.
    if (after.action === 'discard') await this.dependencies.discarding.startStoredDiscards();
    else await this.dependencies.owner.notifyOwningProcesses([after.endpoint_id]);
    return convertToWebhookReplay(after);
  }

  /** @throws not_found, endpoint_not_enabled */
  private async requireEnabledEndpoint(scope: WorkspaceScope, endpointId: string): Promise<void> {
    if (!isEndpointEnabled(await this.dependencies.endpoints.requireEndpoint(scope, endpointId)))
      throw endpointNotEnabledError();
  }
}

/**
 * Checks a filter and limits it to events up to `latest`. Later events need no replay. A replay that included them
 * would never end.
 * @param latest the command's time, or the time of the newest stored delivery if that is later because a clock was set
 * back
 * @throws validation_failed
 */
export function checkAndLimitReplayFilter(filter: CreateReplayCommand['filter'], latest: Timestamp): ReplayFilter {
  const { since = null, event_types = null, reasons = null, statuses = DEFAULT_REPLAYED_STATUSES } = filter;
  const until = filter.until === undefined || filter.until > latest ? latest : filter.until;
  if (since !== null && since > until) {
    const message = `Must not be later than ${filter.until === until ? '`until`' : 'now'}.`;
    throw validationError([{ param: 'since', code: 'invalid_value', message }]);
  }
  return { since, until, event_types, statuses, reasons };
}
