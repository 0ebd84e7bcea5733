import type { Timestamp } from '@tracking/contracts';
import type { Clock } from '@tracking/ports';
import { type Failing, failingReportAt } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { OwnedEndpoint } from './owned-endpoint.ts';
import type { OwnedEndpoints } from './owned-endpoints.ts';

/** Tells the other endpoints; told again of the same, they get nothing more. */
export type TellFailing = (endpoint: EndpointDocument, failing: Failing) => Promise<void>;

export interface FailingAlarmParts {
  readonly endpoints: OwnedEndpoints;
  /** For so long none of its attempts succeeded. */
  readonly afterMs: number;
  readonly clock: Clock;
  readonly tell: TellFailing;
}

/** Sees to it that the other endpoints are told of one that fails, once for each time it does. */
export class FailingAlarm {
  constructor(private readonly parts: FailingAlarmParts) {}

  /** When they are to be told, in epoch milliseconds; Infinity: not as things are. */
  dueAt({ concurrency, endpoint, window, triedHere }: OwnedEndpoint): number {
    const failures = concurrency?.failures ?? null;
    if (failures === null || failures.told || failures.reason === null) return Infinity;
    const at = failingReportAt(failures, endpoint.pauses, this.parts.afterMs);
    // Of what failed under an earlier owner something must be left: else it may be long ago, and the next attempt succeed.
    return triedHere || window.scheduled.some(({ delivery }) => delivery.attempts_count > 0) ? at : Infinity;
  }

  /** What is told is stored before, and that it was told afterwards: the next owner says the same, or nothing. */
  async raise(owned: OwnedEndpoint): Promise<void> {
    const { endpoints, clock, tell } = this.parts;
    const { concurrency, endpoint } = owned;
    const failures = concurrency?.failures ?? null;
    if (concurrency === undefined || failures === null || failures.reason === null) return;
    const { since, reason } = failures;
    const eventAt = failures.eventAt ?? clock().getTime();
    const note = (told: boolean) => {
      const now = concurrency.failures;
      if (now?.since === since) concurrency.failures = { ...now, eventAt, told };
      return endpoints.saveHealth(owned, clock().getTime());
    };
    const isOurs = await note(false);
    // While that was stored the endpoint may have got another URL.
    if (isOurs && owned.concurrency === concurrency)
      await tell(endpoint, { since: timestamp(since), at: timestamp(eventAt), reason });
    await note(true);
  }
}

const timestamp = (at: number): Timestamp => new Date(at).toISOString();
