import type { Clock } from '@tracking/ports';
import type { AttemptPreparation } from './attempts/attempt-preparation.ts';
import type { AttemptSender, MadeAttempt } from './attempts/attempt-sender.ts';
import type { DeadLetterAnnouncer } from './attempts/dead-letter-announcer.ts';
import type { MakeAttempt } from './attempts/dispatcher.ts';
import type { EngineRetry } from './attempts/engine-retry.ts';
import type { FailureLog } from './attempts/failure-log.ts';
import type { OutcomeStore } from './attempts/outcome-store.ts';
import type { OwnedEndpoint } from './attempts/owned-endpoint.ts';
import type { OwnedEndpoints } from './attempts/owned-endpoints.ts';
import type { EndpointClients } from './endpoints/endpoint-clients.ts';
import { type EndpointDocument, hasSameUrl } from './endpoints/endpoint-document.ts';
import type { CountOutcome, StatsKeeper } from './stats/stats-keeper.ts';
import type { DeliveryDocument } from './store/delivery-document.ts';

export interface DeliveryWorkerParts {
  readonly preparation: AttemptPreparation;
  readonly sender: AttemptSender;
  readonly outcomes: OutcomeStore;
  readonly stats: StatsKeeper;
  readonly endpoints: OwnedEndpoints;
  readonly clients: EndpointClients;
  readonly failures: FailureLog;
  readonly announcer: DeadLetterAnnouncer;
  readonly engines: EngineRetry;
  readonly clock: Clock;
}

/**
 * Makes the attempts, and does what follows from each. They are one step on the way of a delivery, from the consumed event to
 * its end:
 *
 *     consume ─► record ─► pending window ─► its turn ─► attempt ─► outcome ─┬─► succeeded
 *                                ▲                                           ├─► dead letter ─► other endpoints, topic
 *                                └───────────── due again later ─────────────┘
 *
 * Until its attempt it waits in the pending window of its endpoint ({@link OwnedEndpoint}), or on disk, until
 * the dispatcher gives it a turn.
 */
export class DeliveryWorker {
  constructor(private readonly parts: DeliveryWorkerParts) {}

  /** Its turn has come. Resolves with the delivery as it is stored then: where it is due again, the dispatcher keeps it. */
  readonly attempt: MakeAttempt = async (owned, pending, answered) => {
    const { preparation, sender, outcomes, announcer } = this.parts;
    const prepared = await preparation.prepare(owned, pending);
    if (!('body' in prepared)) return prepared.delivery;
    const { client, delivery } = prepared;
    const made = await sender.send(owned, prepared);
    // Given up by this process, which says nothing about the endpoint.
    if (made === undefined) return delivery;
    if (!delivery.sandbox) this.judgeEndpoint(owned, client.endpoint, delivery, made);
    answered();
    if (made.finished.outcome.kind !== 'success') await this.refreshEndpoint(owned);
    const counted = delivery.sandbox ? undefined : await this.beforeCounting(owned, made);
    const stored = await outcomes.store(delivery, made, owned.endpoint);
    counted?.(stored?.latest_attempt);
    await this.saveHealth(owned);
    if (stored?.status === 'dead_lettered') announcer.job.wake();
    return stored;
  };

  /** Before the next attempt may begin: it must not come too early. */
  private judgeEndpoint(
    owned: OwnedEndpoint,
    attempted: EndpointDocument,
    delivery: DeliveryDocument,
    made: MadeAttempt,
  ): void {
    // It says nothing about the URL that the endpoint has by now.
    if (!hasSameUrl(attempted, owned.endpoint)) return;
    const { outcome, startedAt, endedAt } = made.finished;
    this.parts.failures.note(owned, delivery, made, owned.concurrency?.failingSince ?? null);
    owned.concurrency?.answered(outcome, Date.parse(startedAt), Date.parse(endedAt));
    owned.triedHere = true;
    if (outcome.kind === 'gone') owned.gone = attempted;
  }

  /** Another process may have changed the URL during the attempt: what a former one answered is no reason to give up. */
  private async refreshEndpoint(owned: OwnedEndpoint): Promise<void> {
    const { engines, clients } = this.parts;
    const client = await engines.until('reading an endpoint', () => clients.read(owned.id));
    if (client !== undefined) owned.setEndpoint(client.endpoint);
  }

  private beforeCounting(owned: OwnedEndpoint, { log }: MadeAttempt): Promise<CountOutcome> {
    const { engines, stats } = this.parts;
    return engines.until('opening an hour of statistics', () => stats.before(owned, log.at));
  }

  private async saveHealth(owned: OwnedEndpoint): Promise<void> {
    const { engines, endpoints, clock } = this.parts;
    await engines.until('storing how an endpoint answers', () => endpoints.saveHealth(owned, clock().getTime()));
  }
}
