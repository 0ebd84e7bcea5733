import { hash } from 'node:crypto';
import { DomainError, type ItemPage, type Timestamp, isResourceInScope, chooseLatestTime } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import {
  type Delivery,
  type ReplayAction,
  markDeliveryDiscarded,
  isEndpointEnabled,
  requestExtraAttempt,
} from '@tracking/webhooks-domain';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { EndpointShardOwner } from '../ownership/shard-owner.ts';
import type { DeadLetterDiscarder } from '../replays/discard-jobs.ts';
import {
  type ReplayDocument,
  type ReplayStore,
  createReplayDocument,
  convertToWebhookReplay,
} from '../replays/replay-store.ts';
import type {
  DeadLetterCount,
  DeadLetterSummary,
  WebhookDeliveryCommand,
  ListDeliveriesRequest,
  WorkspaceScope,
  ReplayOrDiscardCommand,
  DeadLetterReplayResult,
  SummarizeDeadLettersRequest,
  WebhookDelivery,
  DetailedWebhookDelivery,
} from '../operation-types.ts';
import type { HourRecountRequestStore } from '../stats/hour-log.ts';
import type { DeadLetterCounter, DeadLetterGroup } from '../store/dead-letter-counts.ts';
import { type DeliveryDocument, toWebhookDelivery, convertToDeliveryDocument } from '../store/delivery-document.ts';
import type { DeliveryQueries } from '../store/delivery-queries.ts';
import {
  type WebhookDeadLetters,
  type WebhookDeliveryOperations,
  deliverySucceededError,
  createEndpointDeletedError,
  endpointNotEnabledError,
  endpointNotVerifiedError,
  deliveryEndpointDeletedError,
  isRepeatedCommand,
  endpointNotFoundError,
} from '../webhooks-api.ts';
import { checkAndLimitReplayFilter } from './replays.ts';

type DeliveryChange = (delivery: DeliveryDocument) => Delivery | Promise<Delivery>;
type StoreChange = (
  before: DeliveryDocument,
  store: () => Promise<DeliveryDocument | undefined>,
) => Promise<DeliveryDocument | undefined>;

interface DeliveriesDependencies {
  readonly documents: Collection<DeliveryDocument>;
  readonly queries: DeliveryQueries;
  readonly endpoints: EndpointStore;
  readonly owner: EndpointShardOwner;
  readonly recounts: HourRecountRequestStore;
}

/** Use cases of deliveries: docs/reference/delivery.md#deliveries. */
export class DeliveryUseCases implements WebhookDeliveryOperations {
  constructor(private readonly dependencies: DeliveriesDependencies) {}

  list(request: ListDeliveriesRequest): Promise<ItemPage<WebhookDelivery>> {
    return this.dependencies.queries.listDeliveries(request);
  }

  get(request: {
    readonly scopes: readonly WorkspaceScope[];
    readonly delivery_id: string;
  }): Promise<DetailedWebhookDelivery> {
    return this.dependencies.queries.getDeliveryDetail(request.scopes, request.delivery_id);
  }

  async retry(command: WebhookDeliveryCommand): Promise<WebhookDelivery> {
    return this.changeDelivery(command, async (now) => {
      const endpoint = await this.dependencies.endpoints.getEndpoint(now.endpoint_id);
      if (endpoint === undefined || endpoint.deleted) throw deliveryEndpointDeletedError();
      if (now.sandbox && !endpoint.verified) throw endpointNotVerifiedError();
      if (!now.sandbox && !isEndpointEnabled(endpoint)) throw endpointNotEnabledError();
      return requestExtraAttempt(now, command.at);
    });
  }

  async discard(command: WebhookDeliveryCommand): Promise<WebhookDelivery> {
    const discard = (now: DeliveryDocument) => {
      if (now.status === 'succeeded') throw deliverySucceededError();
      return markDeliveryDiscarded(now, command.at);
    };
    // Also for a repeated command, because its first execution may have failed before the second request of a recount.
    return this.changeDelivery(command, discard, ({ endpoint_id, discarded_at = command.at }, store) =>
      this.dependencies.recounts.requestRecountAroundDiscard(endpoint_id, discarded_at, store),
    );
  }

  /**
   * Changes the delivery that the command names. Idempotent.
   * @param storeChange runs `store`, which stores the change
   * @throws PreconditionFailedError, BusyError
   */
  private async changeDelivery(
    command: WebhookDeliveryCommand,
    change: DeliveryChange,
    storeChange: StoreChange = (_, store) => store(),
  ): Promise<WebhookDelivery> {
    const { documents, queries, owner } = this.dependencies;
    const { delivery_id: id } = command;
    const delivery = await retryConflicts(documents, `delivery ${id}`, async () => {
      const before = await queries.requireDelivery([command], id);
      const after = isRepeatedCommand(before, command) ? before : await change(before);
      return storeChange(before, async () => {
        if (after === before) return before;
        const written = convertToDeliveryDocument({ ...after, changed_by: command.id } as DeliveryDocument);
        return (await documents.replace(written, { revision: before.revision })) ? written : undefined;
      });
    });
    // Notify the endpoint's owner even if nothing changed: the first notification may have been lost.
    await owner.notifyOwningProcesses([delivery.endpoint_id]);
    return toWebhookDelivery(delivery);
  }
}

interface DeadLettersDependencies {
  readonly counts: DeadLetterCounter;
  readonly queries: DeliveryQueries;
  readonly replays: ReplayStore;
  readonly endpoints: EndpointStore;
  readonly owner: EndpointShardOwner;
  readonly discarding: DeadLetterDiscarder;
}

/** An endpoint with matching dead letters. */
interface EndpointWithNewestDeadLetterTime {
  readonly endpoint_id: string;
  /** Creation time of the newest event among these dead letters. */
  readonly newest: Timestamp;
}

/** Use cases of dead letters: docs/reference/delivery.md#dead-letters. */
export class DeadLetterUseCases implements WebhookDeadLetters {
  constructor(private readonly dependencies: DeadLettersDependencies) {}

  async summary({ filter, ...scope }: SummarizeDeadLettersRequest): Promise<DeadLetterSummary> {
    const { groups, isWhole } = await this.dependencies.counts.countDeadLettersByKind(scope, filter);
    const by_endpoint = countDeadLettersBy(groups, 'endpoint_id').map(async (counted) => {
      const endpoint = await this.dependencies.endpoints.getEndpoint(counted.endpoint_id);
      const isGone = endpoint === undefined || endpoint.deleted;
      return { ...counted, url: endpoint?.url ?? null, status: isGone ? ('deleted' as const) : endpoint.status };
    });
    const { count, is_exact } = sumDeadLetterGroups(groups);
    return {
      count,
      is_exact: is_exact && isWhole,
      by_reason: countDeadLettersBy(groups, 'reason'),
      by_endpoint: await Promise.all(by_endpoint),
      by_event_type: countDeadLettersBy(groups, 'event_type'),
    };
  }

  async replay(command: ReplayOrDiscardCommand): Promise<DeadLetterReplayResult> {
    const settled = await this.startReplayPerEndpoint(command, 'replay');
    // Notify the endpoints' owners even if nothing changed: the first notification may have been lost.
    await this.dependencies.owner.notifyOwningProcesses(settled.replays.map(({ endpoint_id }) => endpoint_id));
    return settled;
  }

  async discard(command: ReplayOrDiscardCommand): Promise<DeadLetterReplayResult> {
    const settled = await this.startReplayPerEndpoint(command, 'discard');
    await this.dependencies.discarding.startStoredDiscards();
    return settled;
  }

  /**
   * Starts a replay or discard for each endpoint with matching dead letters. A repeated command returns the replays
   * that it already started, and starts the missing ones.
   */
  private async startReplayPerEndpoint(
    command: ReplayOrDiscardCommand,
    action: ReplayAction,
  ): Promise<DeadLetterReplayResult> {
    const begun = new Map<string, ReplayDocument>();
    for (const replay of await this.dependencies.replays.listReplaysOfCommand(command.id)) {
      if (isResourceInScope(replay, command)) begun.set(replay.endpoint_id, replay);
    }
    const refused: { endpoint_id: string; error: DomainError }[] = [];
    for (const [endpoint_id, newest] of await this.findNewestDeadLetterTimes(command)) {
      if (begun.has(endpoint_id)) continue;
      try {
        begun.set(endpoint_id, await this.startReplay(command, { endpoint_id, newest }, action));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        // Notify the owner again: the process that started this replay may have ended before it did.
        if (action === 'replay') await this.dependencies.owner.notifyOwningProcesses([endpoint_id]);
        refused.push({ endpoint_id, error });
      }
    }
    const [first] = refused;
    if (command.filter.endpoint_id !== undefined && first !== undefined) throw first.error;
    return {
      replays: [...begun.values()].map(convertToWebhookReplay),
      refused: refused.map(({ endpoint_id, error: { code, message } }) => ({ endpoint_id, code, message })),
    };
  }

  /**
   * Returns the endpoints with matching dead letters, each with the creation time of its newest event. @throws
   * not_found
   */
  private async findNewestDeadLetterTimes(command: ReplayOrDiscardCommand): Promise<ReadonlyMap<string, Timestamp>> {
    const { endpoints, counts } = this.dependencies;
    const { delivery_ids, ...filter } = command.filter;
    if (filter.endpoint_id !== undefined) {
      const known = await endpoints.getEndpoint(filter.endpoint_id);
      if (known === undefined || !isResourceInScope(known, command)) throw endpointNotFoundError();
    }
    const newest =
      delivery_ids === undefined
        ? await counts.findNewestDeadLetterTimes(command, filter)
        : await this.findNewestEventTimeByEndpoint(command, delivery_ids);
    checkAndLimitReplayFilter(filter, chooseLatestTime(command.at, ...newest.values()));
    return newest;
  }

  private async findNewestEventTimeByEndpoint(
    command: ReplayOrDiscardCommand,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Timestamp>> {
    const { endpoint_id } = command.filter;
    const named = await Promise.all(ids.map((id) => this.dependencies.queries.requireDelivery([command], id)));
    const dead = named.filter(
      (one) => one.status === 'dead_lettered' && (endpoint_id === undefined || one.endpoint_id === endpoint_id),
    );
    const byEndpoint = [...Map.groupBy(dead, (one) => one.endpoint_id)];
    return new Map(byEndpoint.map(([id, some]) => [id, chooseLatestTime(...some.map((one) => one.event_created_at))]));
  }

  private async startReplay(
    command: ReplayOrDiscardCommand,
    of: EndpointWithNewestDeadLetterTime,
    action: ReplayAction,
  ): Promise<ReplayDocument> {
    const { replays, endpoints } = this.dependencies;
    const { endpoint_id, newest } = of;
    if (action === 'replay') {
      const endpoint = await endpoints.getEndpoint(endpoint_id);
      if (endpoint === undefined || endpoint.deleted) throw createEndpointDeletedError();
      if (!isEndpointEnabled(endpoint)) throw endpointNotEnabledError();
    }
    const { workspace_id, environment, at, filter } = command;
    const { delivery_ids } = filter;
    const id = `rpl_${hash('sha256', `${command.id} ${endpoint_id}`).slice(0, 32)}`;
    const about = { id, workspace_id, environment, endpoint_id, action };
    const which = {
      ...checkAndLimitReplayFilter({ ...filter, statuses: ['dead_lettered'] }, chooseLatestTime(at, newest)),
      ...(delivery_ids !== undefined && { delivery_ids }),
    };
    return replays.addReplay({ ...createReplayDocument({ ...about, ...which }, at), requested_by: command.id });
  }
}

function sumDeadLetterGroups(groups: readonly DeadLetterGroup[]): DeadLetterCount {
  const count = groups.reduce((total, group) => total + group.count, 0);
  return { count, is_exact: groups.every(({ is_exact }) => is_exact) };
}

function countDeadLettersBy<K extends 'reason' | 'endpoint_id' | 'event_type'>(
  groups: readonly DeadLetterGroup[],
  key: K,
) {
  const parts = [...Map.groupBy(groups, (group) => group[key])];
  const counted = parts.map(
    ([value, some]) => ({ [key]: value, ...sumDeadLetterGroups(some) }) as Record<K, string> & DeadLetterCount,
  );
  return counted.sort((one, other) => other.count - one.count);
}
