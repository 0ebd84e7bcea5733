import type { Scope } from '@tracking/contracts';
import { invalidRequest, RequestError } from '@tracking/http';
import type { EventStore } from '@tracking/ports';
import type { EventFeed, FollowFilter, FollowedEvents } from '@tracking/read-models';
import type { EventsService } from '../../dependencies.ts';

/** What the beginning of the log is called, among ids of events. */
const BEGINNING = 'beginning';
/** How long it is waited for an event that another process told already. */
const ELSEWHERE_MS = 5_000;

/** Where a client wants to go on, and by which parameter or header it says so. */
export interface After {
  readonly id: string;
  readonly param: string;
}

/** Lets a client follow the events from the place that it names. */
export class Following {
  constructor(
    private readonly feed: EventFeed,
    private readonly events: Pick<EventsService, 'reached'>,
    private readonly head: EventStore['head'],
  ) {}

  /** @throws RequestError where there is no such place */
  async begin(scope: Scope, filter: FollowFilter, after: After | undefined): Promise<FollowedEvents> {
    if (after === undefined || after.id === BEGINNING) {
      return required(await this.feed.follow(scope, filter, after && BEGINNING), after);
    }
    const known = await this.feed.follow(scope, filter, after);
    if (known !== undefined) return known;
    // Another process may have told it, whose read models are further.
    const head = await this.head();
    if (head !== undefined && !(await this.events.reached(head, ELSEWHERE_MS))) {
      const message = 'Events are stored that cannot be told yet; try again.';
      throw new RequestError('read_model_behind', message, [], { 'Retry-After': '1' });
    }
    return required(await this.feed.follow(scope, filter, after), after);
  }
}

function required(followed: FollowedEvents | undefined, after: After | undefined): FollowedEvents {
  if (followed !== undefined) return followed;
  const message = 'There is no such event, or none any more: read GET /v1/events by `since`, and begin anew.';
  throw invalidRequest([{ param: after?.param ?? 'after', code: 'invalid_value', message }]);
}
