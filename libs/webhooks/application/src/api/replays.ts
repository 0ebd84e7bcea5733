import { hash } from 'node:crypto';
import {
  DEFAULT_REPLAYED_STATUSES,
  isAttempted,
  newReplay,
  replayCanceled,
  replayResumed,
} from '@tracking/webhooks-domain';
import type { ShardOwner } from '../attempts/shard-owner.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import { endpointNotEnabled, replayCompleted } from '../refusals.ts';
import { toReplay } from '../replays/replay-document.ts';
import type { ReplayChange, ReplayStore } from '../replays/replay-store.ts';
import type { CreateReplay, ListReplays, PageOf, ReplayCommand, Scope, WebhookReplay } from '../requests.ts';
import type { WebhookReplays } from '../webhooks-api.ts';

export interface ReplaysParts {
  readonly store: ReplayStore;
  readonly endpoints: EndpointStore;
  readonly owner: ShardOwner;
}

/** The use cases of replays: docs/reference/delivery.md#replays. */
export class Replays implements WebhookReplays {
  constructor(private readonly parts: ReplaysParts) {}

  async create(command: CreateReplay): Promise<WebhookReplay> {
    const { store, owner } = this.parts;
    const { workspace_id, environment, endpoint_id, at, filter } = command;
    await this.requireAttempted(command, endpoint_id);
    const id = `rpl_${hash('sha256', command.id).slice(0, 32)}`;
    const { since = null, until = at, event_types = null, reasons = null } = filter;
    const { statuses = DEFAULT_REPLAYED_STATUSES } = filter;
    const about = { id, workspace_id, environment, endpoint_id, action: 'replay' } as const;
    const replay = newReplay({ ...about, since, until, event_types, statuses, reasons }, at);
    const cursor = { deliveries: null, events: null };
    const stored = await store.add({ ...replay, running_for: endpoint_id, cursor, under_way: [] });
    await owner.notify([endpoint_id]);
    return toReplay(stored);
  }

  async list(request: ListReplays): Promise<PageOf<WebhookReplay>> {
    const { items, next } = await this.parts.store.list(request, request);
    return { items: items.map(toReplay), next };
  }

  async get(request: Scope & { readonly replay_id: string }): Promise<WebhookReplay> {
    return toReplay(await this.parts.store.require(request, request.replay_id));
  }

  cancel(command: ReplayCommand): Promise<WebhookReplay> {
    return this.change(command, (replay) => replayCanceled(replay, command.at));
  }

  async resume(command: ReplayCommand): Promise<WebhookReplay> {
    const { endpoint_id } = await this.parts.store.require(command, command.replay_id);
    await this.requireAttempted(command, endpoint_id);
    return this.change(command, (replay) => {
      if (replay.status === 'completed') throw replayCompleted();
      return replayResumed(replay);
    });
  }

  private async change(command: ReplayCommand, change: ReplayChange): Promise<WebhookReplay> {
    const after = await this.parts.store.carryOut(command, change);
    // Also of what changed nothing: perhaps it is repeated because nobody was told the first time.
    await this.parts.owner.notify([after.endpoint_id]);
    return toReplay(after);
  }

  /** @throws not_found, endpoint_not_enabled */
  private async requireAttempted(scope: Scope, endpointId: string): Promise<void> {
    if (!isAttempted(await this.parts.endpoints.require(scope, endpointId))) throw endpointNotEnabled();
  }
}
