import type { Clock, Collection } from '@tracking/ports';
import type { EndpointClient, EndpointClients } from '../endpoints/endpoint-clients.ts';
import { type DeliveryDocument, type Payloads, awaitsAttempt } from '../store/delivery-document.ts';
import type { EngineRetry } from './engine-retry.ts';
import type { OwnedEndpoint } from './owned-endpoint.ts';
import type { PendingDelivery } from './priority-queue.ts';

export interface AttemptPreparationParts {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly clients: EndpointClients;
  readonly payloads: Payloads;
  readonly engines: EngineRetry;
  readonly clock: Clock;
  readonly freshnessMs: number;
}

/** Everything that an attempt needs. */
export interface PreparedAttempt {
  readonly client: EndpointClient;
  readonly delivery: DeliveryDocument;
  readonly body: Uint8Array;
}

/** No attempt is to be made now; the delivery as it is stored, undefined where there is none any more. */
export interface NoAttempt {
  readonly delivery: DeliveryDocument | undefined;
}

/** The two are stored side by side: the body is on its way, or recording was interrupted and is done again. */
export class PayloadMissing extends Error {
  override readonly name = 'PayloadMissing';
}

/** Brings together what an attempt needs, and looks once more whether it is to be made. */
export class AttemptPreparation {
  constructor(private readonly parts: AttemptPreparationParts) {}

  /** @throws PayloadMissing */
  prepare(owned: OwnedEndpoint, pending: PendingDelivery): Promise<PreparedAttempt | NoAttempt> {
    return this.parts.engines.until('preparing an attempt', () => this.look(owned, pending));
  }

  private async look(owned: OwnedEndpoint, pending: PendingDelivery): Promise<PreparedAttempt | NoAttempt> {
    const { clients, payloads } = this.parts;
    const client = clients.fresh(owned.id) ?? (await clients.read(owned.id));
    if (client === undefined) return { delivery: undefined };
    owned.setEndpoint(client.endpoint);
    if (!owned.mayGo(pending)) return { delivery: pending.delivery };
    const delivery = await this.current(pending);
    if (delivery === undefined || !this.isDue(owned, delivery)) return { delivery };
    const body = payloads.atHand(delivery.payload_id) ?? (await payloads.read(delivery.payload_id));
    if (body === undefined) throw new PayloadMissing(delivery.id);
    // Perhaps an engine was away for long: the shard may be another process's by now, which attempts this as well.
    return owned.isOurs ? { client, delivery, body } : { delivery };
  }

  /** As it is stored, where it has waited here for long or an attempt is to be added to others. */
  private async current({ id, delivery, knownAt }: PendingDelivery): Promise<DeliveryDocument | undefined> {
    const isComplete = delivery.attempts_count === 0;
    const isFresh = performance.now() - knownAt <= this.parts.freshnessMs;
    return isComplete && isFresh ? delivery : this.parts.deliveries.get(id);
  }

  /**
   * What a person asked for is due at once: its time is that of the process which was asked, whose clock may be ahead. All
   * else waits for its time by the clock of the endpoint's owner: where that is another's than of who recorded or attempted
   * it before, it comes earlier or later by what the clocks differ.
   */
  private isDue(owned: OwnedEndpoint, delivery: DeliveryDocument): boolean {
    const { sandbox, manual_at } = delivery;
    if (sandbox || manual_at !== null) return awaitsAttempt(delivery);
    if (!awaitsAttempt(delivery)) return false;
    return owned.goesEarly({ delivery }) || owned.dueOf(delivery) <= this.parts.clock().getTime();
  }
}
