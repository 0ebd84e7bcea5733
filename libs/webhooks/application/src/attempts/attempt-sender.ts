import type {
  Clock,
  Counter,
  Histogram,
  Logger,
  Metrics,
  OutboundFailure,
  OutboundHttp,
  OutboundResponse,
} from '@tracking/ports';
import { type AttemptOutcome, type FinishedAttempt, judgeAnswer, urlRevision } from '@tracking/webhooks-domain';
import type { EndpointClient } from '../endpoints/endpoint-clients.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { WebhookAttempt } from '../operation-types.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import { attemptTraceparent, traceFields } from '../tracing.ts';

/** Everything that an attempt needs. */
export interface PreparedAttempt {
  readonly client: EndpointClient;
  readonly delivery: DeliveryDocument;
  readonly body: Uint8Array;
}

export interface AttemptResult {
  readonly finished: FinishedAttempt;
  /** The attempt as it is logged; its number is known when it is stored. */
  readonly log: Omit<WebhookAttempt, 'number'>;
}

interface AttemptSenderParts {
  readonly outbound: OutboundHttp;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Makes single attempts: one signed POST each. */
export class AttemptSender {
  private readonly made: Counter;
  private readonly seconds: Histogram;
  private readonly untilDelivered: Histogram;

  constructor(private readonly parts: AttemptSenderParts) {
    const { metrics } = parts;
    this.made = metrics.counter('webhook_attempts_total', 'Attempts by outcome', ['outcome']);
    this.seconds = metrics.histogram('webhook_attempt_seconds', 'Duration of an attempt', ['outcome']);
    const help = 'From the event to its delivery, where the first attempt succeeded';
    this.untilDelivered = metrics.histogram('webhook_delivery_seconds', help);
  }

  /**
   * Makes an attempt. Returns undefined if this process gave it up, because it stops or no longer owns the endpoint: that
   * says nothing about the endpoint, and the attempt is to be made again.
   */
  async send(owned: OwnedEndpoint, { client, delivery, body }: PreparedAttempt): Promise<AttemptResult | undefined> {
    const { outbound, timeoutMs, clock } = this.parts;
    const { event_id: id, event_type: type } = delivery;
    const event = { id, type, traceparent: attemptTraceparent(delivery) };
    const started = clock();
    const request = client.request(event, body, started.getTime(), timeoutMs);
    const answer = await outbound.post({ ...request, signal: owned.lease.lost, mayBeSent: () => owned.isOwned });
    if (answer.kind === 'failure' && answer.code === 'aborted') return undefined;
    // A clock that was set back must not end an attempt before it began.
    const ended = new Date(Math.max(clock().getTime(), started.getTime()));
    const outcome = toOutcome(answer, ended);
    this.observe(delivery, outcome, { durationMs: answer.durationMs, ended });
    const at = started.toISOString();
    const manual = delivery.manual_at !== null;
    const error = outcome.kind === 'success' ? null : outcome.error;
    return {
      finished: {
        startedAt: at,
        endedAt: ended.toISOString(),
        manual,
        outcome,
        urlRevision: urlRevision(client.endpoint),
      },
      log: { at, duration_ms: Math.round(answer.durationMs), ...toLoggedAnswer(answer), error, manual },
    };
  }

  private observe(
    delivery: DeliveryDocument,
    { kind: outcome }: AttemptOutcome,
    { durationMs, ended }: { readonly durationMs: number; readonly ended: Date },
  ): void {
    this.made.add(1, { outcome });
    this.seconds.observe(durationMs / 1000, { outcome });
    if (outcome === 'success' && delivery.attempts_count === 0) {
      // By the clocks of two processes: the one that made the event may be ahead.
      this.untilDelivered.observe(Math.max(0, ended.getTime() - Date.parse(delivery.event_created_at)) / 1000);
    }
    const { endpoint_id: endpoint, id, event_id: event } = delivery;
    const about = { endpoint, delivery: id, event, ...traceFields(delivery), outcome, duration_ms: durationMs };
    this.parts.logger.debug(about, 'webhooks: an attempt was made');
  }
}

function toOutcome(answer: OutboundResponse | OutboundFailure, ended: Date): AttemptOutcome {
  if (answer.kind === 'failure') return judgeAnswer(answer, ended.getTime());
  const { statusCode, headers } = answer;
  const { 'retry-after': retryAfter, date } = headers;
  return judgeAnswer({ kind: 'response', statusCode, retryAfter, date }, ended.getTime());
}

function toLoggedAnswer(
  answer: OutboundResponse | OutboundFailure,
): Pick<WebhookAttempt, 'status_code' | 'response' | 'resent'> {
  const resent = answer.resent && { resent: answer.resent };
  if (answer.kind === 'failure') return { status_code: null, response: null, ...resent };
  return { status_code: answer.statusCode, response: { headers: answer.headers, body: answer.body }, ...resent };
}

/** After an endpoint answered again its failures are not logged for this long: one that fails now and then fills no log. */
const FAILURE_LOG_PAUSE_MS = 60_000;

interface LatestReport {
  readonly isFailing: boolean;
  /** On the monotonic clock. */
  readonly at: number;
}

/**
 * Logs once that an endpoint fails, at the first failed attempt after a success, and once that it answers again. At most two
 * lines a minute for each endpoint. The last line is true: an endpoint that keeps failing is attempted again after the quiet
 * minute.
 */
export class FailureLog {
  private readonly reports = new WeakMap<object, LatestReport>();

  /** @param now on the monotonic clock, in milliseconds */
  constructor(
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Takes note of an attempt.
   * @param owned the same object for as long as this process owns the endpoint
   * @param failingSince since when all attempts before this one failed, in epoch milliseconds; null if the last one did not.
   *   A failure from before this process owned the endpoint was logged by its former owner.
   */
  record(
    owned: { readonly endpoint: EndpointDocument },
    delivery: DeliveryDocument,
    { finished: { outcome } }: Pick<AttemptResult, 'finished'>,
    failingSince: number | null,
  ): void {
    const latest = this.reports.get(owned) ?? { isFailing: failingSince !== null, at: -Infinity };
    const isFailing = outcome.kind !== 'success';
    if (isFailing === latest.isFailing || (isFailing && this.now() - latest.at < FAILURE_LOG_PAUSE_MS)) return;
    this.reports.set(owned, { isFailing, at: this.now() });
    const { id: endpoint, workspace_id: workspace } = owned.endpoint;
    const about = { endpoint, workspace, delivery: delivery.id, ...traceFields(delivery) };
    if (isFailing) {
      const { code, message: reason } = outcome.error;
      this.logger.warn({ ...about, code, reason }, 'webhooks: an endpoint fails');
    } else {
      this.logger.info(about, 'webhooks: an endpoint answers again');
    }
  }
}
