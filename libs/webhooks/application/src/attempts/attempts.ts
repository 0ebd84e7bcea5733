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
import { type FinishedAttempt, judge } from '@tracking/webhooks-domain';
import type { DeliveryDocument } from '../deliveries/delivery-document.ts';
import type { Receiver } from '../endpoints/receivers.ts';
import { attemptTraceparent, traceFields } from '../tracing.ts';
import type { AttemptLog } from './outcomes.ts';

export interface MadeAttempt {
  readonly finished: FinishedAttempt;
  readonly log: AttemptLog;
}

/** Makes single attempts: one signed POST each. */
export class Attempts {
  private readonly made: Counter;
  private readonly seconds: Histogram;
  private readonly underway: Histogram;

  constructor(
    private readonly outbound: OutboundHttp,
    private readonly timeoutMs: number,
    private readonly clock: Clock,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.made = metrics.counter('webhook_attempts_total', 'Attempts by outcome', ['outcome']);
    this.seconds = metrics.histogram('webhook_attempt_seconds', 'Duration of an attempt', ['outcome']);
    const help = 'From the event to its delivery, where the first attempt succeeded';
    this.underway = metrics.histogram('webhook_delivery_seconds', help);
  }

  /** Undefined when this process gave it up: that says nothing about the endpoint, and it is to be made again. */
  async make(receiver: Receiver, delivery: DeliveryDocument, body: Uint8Array): Promise<MadeAttempt | undefined> {
    const { event_id: id, event_type: type } = delivery;
    const event = { id, type, traceparent: attemptTraceparent(delivery) };
    const manual = delivery.manual_at !== null;
    const started = this.clock();
    const answer = await this.outbound.post(receiver.request(event, body, started.getTime(), this.timeoutMs));
    if (answer.kind === 'failure' && answer.code === 'aborted') return undefined;
    // A clock set back must not end an attempt before it began.
    const ended = new Date(Math.max(this.clock().getTime(), started.getTime()));
    const startedAt = started.toISOString();
    const outcome = judge(
      answer.kind === 'failure'
        ? answer
        : { kind: 'response', statusCode: answer.statusCode, retryAfter: answer.headers['retry-after'] },
      ended.getTime(),
    );
    this.made.add(1, { outcome: outcome.kind });
    this.seconds.observe(answer.durationMs / 1000, { outcome: outcome.kind });
    if (outcome.kind === 'success' && delivery.attempts_count === 0) {
      // By the clocks of two processes: that of the event's may be ahead.
      this.underway.observe(Math.max(0, ended.getTime() - Date.parse(delivery.event_created_at)) / 1000);
    }
    const error = outcome.kind === 'success' ? null : outcome.error;
    const what = { endpoint: delivery.endpoint_id, delivery: delivery.id, event: id, ...traceFields(delivery) };
    this.logger.debug(
      { ...what, outcome: outcome.kind, duration_ms: answer.durationMs },
      'webhooks: an attempt was made',
    );
    return {
      finished: { startedAt, endedAt: ended.toISOString(), manual, outcome },
      log: { at: startedAt, duration_ms: Math.round(answer.durationMs), ...shown(answer), error, manual },
    };
  }
}

function shown(answer: OutboundResponse | OutboundFailure): Pick<AttemptLog, 'status_code' | 'response'> {
  if (answer.kind === 'failure') return { status_code: null, response: null };
  return { status_code: answer.statusCode, response: { headers: answer.headers, body: answer.body } };
}
