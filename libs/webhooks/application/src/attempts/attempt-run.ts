import type { Clock, Collection } from '@tracking/ports';
import type { Delivery } from '@tracking/webhooks-domain';
import { type DeliveryDocument, awaitsAttempt } from '../deliveries/delivery-document.ts';
import type { Payloads } from '../deliveries/payloads.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { Receiver, Receivers } from '../endpoints/receivers.ts';
import type { Attempts, MadeAttempt } from './attempts.ts';
import type { FailureLines } from './failure-lines.ts';
import type { Lane } from './lane.ts';
import type { Lanes } from './lanes.ts';
import type { Outcomes } from './outcomes.ts';
import type { Persistence } from './persistence.ts';
import { type Waiting, placeOf } from './waiting-list.ts';

export interface AttemptParts {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly receivers: Receivers;
  readonly payloads: Payloads;
  readonly attempts: Attempts;
  readonly outcomes: Outcomes;
  readonly lanes: Lanes;
  readonly failures: FailureLines;
  readonly clock: Clock;
  readonly persistence: Persistence;
  readonly freshnessMs: number;
  /** The endpoint answered 410: disables it, and resolves with what it is then. */
  gone(endpoint: EndpointDocument): Promise<EndpointDocument>;
  /** An attempt's outcome was stored. */
  settled(delivery: Delivery): void;
}

/** The two are stored side by side: the body is on its way, or recording was interrupted and is done again. */
export class PayloadMissing extends Error {
  override readonly name = 'PayloadMissing';
}

/** One delivery's way from its turn to its stored outcome. */
export class AttemptRun {
  constructor(private readonly parts: AttemptParts) {}

  /**
   * Attempts the delivery and stores what came of it. Answers it as it is stored then; undefined when it is gone.
   * @param answered called when the endpoint has answered: the next attempt may begin while the outcome is being stored
   */
  async run(lane: Lane, item: Waiting, answered: () => void): Promise<DeliveryDocument | undefined> {
    const { attempts, persistence } = this.parts;
    const prepared = await persistence.until('preparing an attempt', () => this.prepare(lane, item));
    if (!('body' in prepared)) return prepared.delivery;
    const { receiver, delivery, body } = prepared;
    const made = await attempts.make(receiver, delivery, body);
    if (made === undefined) return delivery;
    if (!delivery.sandbox) this.takeNote(lane, delivery, made);
    answered();
    return this.store(lane, receiver, delivery, made);
  }

  /** Before the next attempt may begin: it must not come too early. */
  private takeNote(lane: Lane, delivery: DeliveryDocument, made: MadeAttempt): void {
    const { outcome, startedAt, endedAt } = made.finished;
    this.parts.failures.note(lane, delivery, made, lane.pace?.failingSince ?? null);
    lane.pace?.answered(outcome, Date.parse(startedAt), Date.parse(endedAt));
    if (outcome.kind === 'gone') lane.blockedUntil = Infinity;
  }

  /** Everything the attempt needs; without a body it is not to be made now. */
  private async prepare(lane: Lane, item: Waiting): Promise<Prepared | NotNow> {
    const { receivers, payloads } = this.parts;
    const receiver = receivers.fresh(lane.id) ?? (await receivers.read(lane.id));
    if (receiver === undefined) return { delivery: undefined };
    lane.setEndpoint(receiver.endpoint);
    if (!lane.mayGo(item)) return { delivery: item.delivery };
    const delivery = await this.current(item);
    if (delivery === undefined || !this.isDue(delivery)) return { delivery };
    const body = payloads.atHand(delivery.payload_id) ?? (await payloads.read(delivery.payload_id));
    if (body === undefined) throw new PayloadMissing(delivery.id);
    // Perhaps an engine was away for long: the shard may be another process's by now, which attempts this as well.
    if (!lane.active) return { delivery };
    return { receiver, delivery, body };
  }

  /** As it is stored, where it has waited here for long or an attempt is to be added to others. */
  private async current({ id, delivery, knownAt }: Waiting): Promise<DeliveryDocument | undefined> {
    const complete = delivery.attempts_count === 0;
    const fresh = performance.now() - knownAt <= this.parts.freshnessMs;
    return complete && fresh ? delivery : this.parts.deliveries.get(id);
  }

  /**
   * What a person asked for is due at once: its time is that of the process which was asked, whose clock may be ahead. All
   * else waits for its time by the clock of the endpoint's owner: where that is another's than of who recorded or attempted
   * it before, it comes earlier or later by what the clocks differ.
   */
  private isDue(delivery: DeliveryDocument): boolean {
    const { sandbox, manual_at } = delivery;
    if (sandbox || manual_at !== null) return awaitsAttempt(delivery);
    return awaitsAttempt(delivery) && placeOf(delivery).due <= this.parts.clock().getTime();
  }

  private async store(
    lane: Lane,
    { endpoint }: Receiver,
    delivery: DeliveryDocument,
    { finished, log }: MadeAttempt,
  ): Promise<DeliveryDocument | undefined> {
    const { outcomes, lanes, clock, persistence, gone, settled } = this.parts;
    const stored = await outcomes.store(delivery, finished, log, lane.endpoint.pauses);
    if (finished.outcome.kind === 'gone' && !delivery.sandbox) {
      lane.setEndpoint(await persistence.until('disabling an endpoint', () => gone(endpoint)));
      lane.blockedUntil = -Infinity;
    }
    await persistence.until('storing how an endpoint answers', () => lanes.remember(lane, clock().getTime()));
    if (stored !== undefined) settled(stored);
    return stored;
  }
}

interface Prepared {
  readonly receiver: Receiver;
  readonly delivery: DeliveryDocument;
  readonly body: Uint8Array;
}
interface NotNow {
  readonly delivery: DeliveryDocument | undefined;
}
