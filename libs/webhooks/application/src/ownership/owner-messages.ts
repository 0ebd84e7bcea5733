import type { Counter, Metrics } from '@tracking/ports';
import { computeShardOfEndpoint } from '@tracking/webhooks-domain';
import type { DeliveryDocument, PayloadStore } from '../store/delivery-document.ts';
import type { OwnerWakeUpStore } from './shards.ts';

/** Milliseconds without messages to a process after a message to it failed. */
const PAUSE_AFTER_FAILED_OWNER_CALL_MS = 1_000;
/** Maximum characters of bodies in one message. The owner reads the other bodies. */
const MAX_BODY_CHARACTERS_PER_MESSAGE = 1024 * 1024;

/** Stored deliveries that a process hands over to the owner of their endpoints. */
export interface HandedOverDeliveries {
  readonly deliveries: readonly DeliveryDocument[];
  /** Bodies of the deliveries by id; some may be absent. */
  readonly payloads: Readonly<Record<string, string>>;
}

/** Ids of the endpoints that the process does not own. */
export interface NotOwnedEndpointIds {
  readonly refused: readonly string[];
}

/** Messages that the owner of a shard accepts from other processes. Repeated messages change nothing. */
export interface ShardOwnerOperations {
  /** Attempts deliveries that were just stored. @throws UnavailableError */
  takeDeliveries(handed: HandedOverDeliveries): Promise<NotOwnedEndpointIds>;
  /** Reads the stored data of endpoints again, because it changed. @throws UnavailableError */
  reload(changed: { readonly endpoint_ids: readonly string[] }): Promise<NotOwnedEndpointIds>;
}

/**
 * Returns the operations of the other process that should own the shard; undefined if it is this process or cannot be
 * called. All shards of a process have the same object.
 */
export type FindShardOwner = (shard: number) => ShardOwnerOperations | undefined;

/**
 * Reaches the owners of endpoints that other processes own: by a message, which takes about a millisecond, and
 * otherwise by a stored wake-up.
 */
export class EndpointOwnerProcessNotifier {
  private readonly pausedUntil = new WeakMap<ShardOwnerOperations, number>();
  private readonly reached: Counter;

  constructor(
    private readonly findOwner: FindShardOwner,
    private readonly wakeUps: Pick<OwnerWakeUpStore, 'requestOwnerWakeUps'>,
    private readonly payloads: Pick<PayloadStore, 'getPayloadIfCached'>,
    metrics: Metrics,
  ) {
    const help = 'Endpoints whose owner, another process, was informed about new or changed data';
    this.reached = metrics.createCounter('webhook_owner_wake_ups_total', help, ['by']);
  }

  /** Hands stored deliveries over to the owners of their endpoints. @throws UnavailableError */
  async sendDeliveriesToOwners(deliveries: readonly DeliveryDocument[]): Promise<void> {
    const byEndpoint = Map.groupBy(deliveries, ({ endpoint_id }) => endpoint_id);
    await this.callOwnersOfEndpoints([...byEndpoint.keys()], (owner, ids) => {
      const handed = ids.flatMap((id) => byEndpoint.get(id) ?? []);
      return owner.takeDeliveries({ deliveries: handed, payloads: this.collectCachedDeliveryBodies(handed) });
    });
  }

  /** Requests that the owners read the data of these endpoints again. @throws UnavailableError */
  async requestEndpointReloads(endpointIds: readonly string[]): Promise<void> {
    await this.callOwnersOfEndpoints(endpointIds, (owner, endpoint_ids) => owner.reload({ endpoint_ids }));
  }

  private async callOwnersOfEndpoints(
    endpointIds: readonly string[],
    call: (owner: ShardOwnerOperations, endpointIds: readonly string[]) => Promise<NotOwnedEndpointIds>,
  ): Promise<void> {
    if (endpointIds.length === 0) return;
    const byOwner = Map.groupBy(endpointIds, (id) => this.findReachableShardOwner(computeShardOfEndpoint(id)));
    const unreached = await Promise.all(
      [...byOwner].map(async ([owner, ids]) => {
        if (owner === undefined) return ids;
        try {
          return (await call(owner, ids)).refused;
        } catch {
          this.pausedUntil.set(owner, performance.now() + PAUSE_AFTER_FAILED_OWNER_CALL_MS);
          return ids;
        }
      }),
    );
    const left = unreached.flat();
    this.reached.add(endpointIds.length - left.length, { by: 'message' });
    if (left.length === 0) return;
    await this.wakeUps.requestOwnerWakeUps(left);
    this.reached.add(left.length, { by: 'store' });
  }

  private findReachableShardOwner(shard: number): ShardOwnerOperations | undefined {
    const owner = this.findOwner(shard);
    if (owner === undefined || performance.now() < (this.pausedUntil.get(owner) ?? -Infinity)) return undefined;
    return owner;
  }

  private collectCachedDeliveryBodies(deliveries: readonly DeliveryDocument[]): Readonly<Record<string, string>> {
    const bodies: Record<string, string> = {};
    let characters = 0;
    for (const { payload_id } of deliveries) {
      const body = bodies[payload_id] === undefined ? this.payloads.getPayloadIfCached(payload_id) : undefined;
      if (body === undefined || characters + body.length > MAX_BODY_CHARACTERS_PER_MESSAGE) continue;
      bodies[payload_id] = body.toString();
      characters += body.length;
    }
    return bodies;
  }
}
