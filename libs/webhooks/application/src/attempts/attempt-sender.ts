import type { PayloadForm } from '@tracking/contracts';
import type {
  Counter,
  Histogram,
  Logger,
  Metrics,
  OutboundRequestFailure,
  OutboundHttp,
  OutboundResponse,
} from '@tracking/ports';
import {
  type AttemptOutcome,
  type FinishedAttempt,
  determineAttemptOutcome,
  getEndpointUrlRevision,
} from '@tracking/webhooks-domain';
import type { EndpointRequestBuilder } from '../endpoints/endpoint-clients.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { WebhookAttempt } from '../operation-types.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { ProcessClock } from '../scheduling/steady-time.ts';
import { type DeliveryDocument, getPayloadFormFromId } from '../store/delivery-document.ts';
import { createAttemptTraceparent, toTraceLogFields } from '../tracing.ts';

/** Inputs of one attempt to send a delivery: endpoint, event, body and number. */
export interface PreparedAttemptInputs {
  readonly client: EndpointRequestBuilder;
  readonly delivery: DeliveryDocument;
  readonly body: Uint8Array;
}

export interface AttemptResult {
  readonly finished: FinishedAttempt;
  /** The attempt as it appears in the log. The attempt number is assigned on storing. */
  readonly log: Omit<WebhookAttempt, 'number'>;
  /** Start and end of the attempt, in time of this process. Setting the wall clock does not change their difference. */
  readonly processTimes: { readonly startedAt: number; readonly endedAt: number };
}

interface AttemptSenderDependencies {
  readonly outbound: OutboundHttp;
  readonly timeoutMs: number;
  readonly time: ProcessClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Makes single attempts: one signed POST each. */
export class AttemptSender {
  private readonly made: Counter;
  private readonly seconds: Histogram;
  private readonly untilDelivered: Histogram;

  constructor(private readonly dependencies: AttemptSenderDependencies) {
    const { metrics } = dependencies;
    this.made = metrics.createCounter('webhook_attempts_total', 'Number of attempts, by outcome', ['outcome']);
    this.seconds = metrics.createHistogram('webhook_attempt_seconds', 'Duration of an attempt', ['outcome']);
    const help = 'Time from event to delivery, for deliveries that succeeded at the first attempt';
    this.untilDelivered = metrics.createHistogram('webhook_delivery_seconds', help);
  }

  /**
   * Makes an attempt. Returns undefined if this process canceled the attempt because it is stopping or no longer owns
   * the endpoint. A canceled attempt is made again.
   */
  async sendAttempt(
    owned: OwnedEndpoint,
    { client, delivery, body }: PreparedAttemptInputs,
  ): Promise<AttemptResult | undefined> {
    const { outbound, timeoutMs, time } = this.dependencies;
    const { event_id: id, event_type: type } = delivery;
    const event = { id, type, traceparent: createAttemptTraceparent(delivery) };
    const startedAt = time.now();
    const signedAt = time.convertSteadyTimeToWallClockTime(startedAt);
    const request = client.buildDeliveryRequest(event, body, signedAt, timeoutMs);
    const answer = await outbound.post({ ...request, signal: owned.lease.lost, mayBeSent: () => owned.isOwned });
    if (answer.kind === 'failure' && answer.code === 'aborted') return undefined;
    const endedAt = time.now();
    const ended = new Date(time.convertSteadyTimeToWallClockTime(endedAt));
    // If the clock was set back, an attempt must not end before it began, and its retry must not be due much later.
    const started = new Date(Math.min(ended.getTime(), signedAt));
    const outcome = toAttemptOutcome(answer, ended, getPayloadFormFromId(delivery.payload_id));
    this.recordDeliveryAttemptMetrics(delivery, outcome, { durationMs: answer.durationMs, ended });
    const at = started.toISOString();
    const manual = delivery.manual_at !== null;
    const error = outcome.kind === 'success' ? null : outcome.error;
    return {
      finished: {
        startedAt: at,
        endedAt: ended.toISOString(),
        manual,
        outcome,
        urlRevision: getEndpointUrlRevision(client.endpoint),
      },
      log: { at, duration_ms: Math.round(answer.durationMs), ...toLoggedReceiverAnswer(answer), error, manual },
      processTimes: { startedAt, endedAt },
    };
  }

  private recordDeliveryAttemptMetrics(
    delivery: DeliveryDocument,
    { kind: outcome }: AttemptOutcome,
    { durationMs, ended }: { readonly durationMs: number; readonly ended: Date },
  ): void {
    this.made.add(1, { outcome });
    this.seconds.observe(durationMs / 1000, { outcome });
    if (outcome === 'success' && delivery.attempts_count === 0) {
      // Limit the age to zero or more: the event's time is from another process, whose clock may be ahead.
      this.untilDelivered.observe(Math.max(0, ended.getTime() - Date.parse(delivery.event_created_at)) / 1000);
    }
    const { endpoint_id: endpoint, id, event_id: event } = delivery;
    const about = { endpoint, delivery: id, event, ...toTraceLogFields(delivery), outcome, duration_ms: durationMs };
    this.dependencies.logger.debug(about, 'webhooks: an attempt was made');
  }
}

function toAttemptOutcome(
  answer: OutboundResponse | OutboundRequestFailure,
  ended: Date,
  sentForm: PayloadForm,
): AttemptOutcome {
  if (answer.kind === 'failure') return determineAttemptOutcome(answer, ended.getTime());
  const { statusCode, headers } = answer;
  const { 'retry-after': retryAfter, date } = headers;
  return determineAttemptOutcome({ kind: 'response', statusCode, retryAfter, date, sentForm }, ended.getTime());
}

function toLoggedReceiverAnswer(
  answer: OutboundResponse | OutboundRequestFailure,
): Pick<WebhookAttempt, 'status_code' | 'response' | 'resent'> {
  const resent = answer.resent && { resent: answer.resent };
  if (answer.kind === 'failure') return { status_code: null, response: null, ...resent };
  return { status_code: answer.statusCode, response: { headers: answer.headers, body: answer.body }, ...resent };
}

/**
 * Time after a recovery during which an endpoint's failures are not logged, so that occasional failures do not fill the
 * log.
 */
const UNLOGGED_FAILURES_AFTER_RECOVERY_MS = 60_000;

interface LastLoggedAttemptResult {
  readonly isFailing: boolean;
  /** Time at which the last line was logged, on the monotonic clock. */
  readonly at: number;
}

/**
 * Logs once that an endpoint fails, at the first failed attempt after a success, and once that it answers again. At
 * most two lines per minute and endpoint. The last line always reflects the current state, because a failing endpoint
 * is attempted again after the pause.
 */
export class EndpointFailureLog {
  private readonly reports = new WeakMap<object, LastLoggedAttemptResult>();

  /** @param now returns the time on the monotonic clock, in milliseconds */
  constructor(
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Records an attempt.
   * @param owned same object for as long as this process owns the endpoint
   * @param failingSince start of the failures before this attempt, in epoch milliseconds; null if the previous attempt
   *   succeeded.
   * A failure from before this process owned the endpoint was logged by its former owner.
   */
  logFailureOrRecovery(
    owned: { readonly endpoint: EndpointDocument },
    delivery: DeliveryDocument,
    { finished: { outcome } }: Pick<AttemptResult, 'finished'>,
    failingSince: number | null,
  ): void {
    const latest = this.reports.get(owned) ?? { isFailing: failingSince !== null, at: -Infinity };
    const isFailing = outcome.kind !== 'success';
    if (isFailing === latest.isFailing || (isFailing && this.now() - latest.at < UNLOGGED_FAILURES_AFTER_RECOVERY_MS))
      return;
    this.reports.set(owned, { isFailing, at: this.now() });
    const { id: endpoint, workspace_id: workspace } = owned.endpoint;
    const about = { endpoint, workspace, delivery: delivery.id, ...toTraceLogFields(delivery) };
    if (isFailing) {
      const { code, message: reason } = outcome.error;
      this.logger.warn({ ...about, code, reason }, 'webhooks: an endpoint is failing');
    } else {
      this.logger.info(about, 'webhooks: an endpoint answers again');
    }
  }
}
