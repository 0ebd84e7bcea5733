import type { Logger } from '@tracking/ports';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import { traceFields } from '../tracing.ts';
import type { MadeAttempt } from './attempt-sender.ts';

/** After an endpoint answered again nothing is said of its failures for so long: one that fails now and then fills no log. */
const QUIET_MS = 60_000;

interface LatestReport {
  readonly isFailing: boolean;
  /** On the monotonic clock. */
  readonly at: number;
}

/**
 * Says once that an endpoint fails, at the first attempt that fails after it had been fine, so that whoever watches knows at
 * once; and once that it answers again. Two lines a minute at most for each endpoint, however many attempts there are; what
 * was said last is true, for one that goes on failing is attempted again after the quiet minute.
 */
export class FailureLog {
  private readonly told = new WeakMap<object, LatestReport>();

  /** @param now on the monotonic clock, in milliseconds */
  constructor(
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Takes note of an attempt.
   * @param owned the endpoint, as long as this process owns it
   * @param failingSince since when all attempts before this one had failed, in epoch milliseconds; null where the last one
   *   did not. Of one that failed before this process owned it, the process that did has said so.
   */
  note(
    owned: { readonly endpoint: EndpointDocument },
    delivery: DeliveryDocument,
    { finished: { outcome } }: Pick<MadeAttempt, 'finished'>,
    failingSince: number | null,
  ): void {
    const told = this.told.get(owned) ?? { isFailing: failingSince !== null, at: -Infinity };
    const isFailing = outcome.kind !== 'success';
    if (isFailing === told.isFailing || (isFailing && this.now() - told.at < QUIET_MS)) return;
    this.told.set(owned, { isFailing, at: this.now() });
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
