import type { Scope, Timestamp } from '@tracking/contracts';
import type { Bounds, Collection, Filter } from '@tracking/ports';
import type { DeadLetterFilter } from '../requests-and-answers.ts';
import type { DeliveryDocument } from './delivery-document.ts';

/** What dead letters have in common that are counted together. */
export interface DeadLetterKind {
  readonly reason: string;
  readonly endpoint_id: string;
  readonly event_type: string;
}
export interface DeadLetterGroup extends DeadLetterKind {
  /** From 1. */
  readonly count: number;
  /** Otherwise there are at least so many. */
  readonly is_exact: boolean;
}
export interface DeadLetterGroups {
  readonly groups: readonly DeadLetterGroup[];
  /** Whether these are all kinds that there are. */
  readonly isWhole: boolean;
}

/** How far is counted, so that an answer takes no longer however many there are. */
export interface CountLimits {
  readonly kinds: number;
  readonly ofEach: number;
  readonly inAll: number;
}
const COUNT_LIMITS: CountLimits = { kinds: 500, ofEach: 20_000, inAll: 100_000 };

const INDEX = 'dead_letters';
const ORDER = ['reason', 'endpoint_id', 'event_type', 'event_created_at'] as const;
/** Behind every time. */
const END = '~';

/** Dead letters of a scope by reason, endpoint and event type: an index of their own has them side by side. */
export class DeadLetterCounts {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly limits = COUNT_LIMITS,
  ) {}

  /** Those that the filter asks for, by kind. Looks at three rows for each kind and at `inAll` beside them, at most. */
  async groups(scope: Scope, filter: DeadLetterFilter): Promise<DeadLetterGroups> {
    const groups: DeadLetterGroup[] = [];
    let left = this.limits.inAll;
    let kinds = 0;
    for await (const kind of this.kinds(scope, filter)) {
      if (kinds === this.limits.kinds) return { groups, isWhole: false };
      kinds += 1;
      if (!isAskedFor(kind, filter)) continue;
      // One is looked for in any case: that there are some is known of each kind.
      const most = Math.max(1, Math.min(this.limits.ofEach, left));
      const count = await this.count(scope, kind, filter, most + 1);
      left -= Math.min(count, most);
      if (count > 0) groups.push({ ...kind, count: Math.min(count, most), is_exact: count <= most });
    }
    return { groups, isWhole: true };
  }

  /** All endpoints that have such, each with when the newest of their events was made. */
  async newest(scope: Scope, filter: DeadLetterFilter): Promise<ReadonlyMap<string, Timestamp>> {
    const newest = new Map<string, Timestamp>();
    const sort = { fields: ['event_created_at'], descending: true };
    for await (const kind of this.kinds(scope, filter)) {
      if (!isAskedFor(kind, filter)) continue;
      const query = { filter: ofKind(scope, kind, filter), sort, limit: 1, index: INDEX };
      for (const { endpoint_id, event_created_at: at } of await this.deliveries.find(query)) {
        if (at > (newest.get(endpoint_id) ?? '')) newest.set(endpoint_id, at);
      }
    }
    return newest;
  }

  /** The kinds that there are, each found by skipping to it; of those that are not asked for, a few between the others. */
  private async *kinds({ workspace_id, environment }: Scope, asked: DeadLetterFilter): AsyncIterable<DeadLetterKind> {
    const filter = { workspace_id, environment, reason: { exists: true } };
    let after: readonly string[] | undefined;
    for (;;) {
      const resume = after === undefined ? {} : { after };
      const query = { filter, sort: { fields: ORDER }, limit: 1, index: INDEX, ...resume };
      const [first] = await this.deliveries.find(query);
      if (first?.reason === undefined) return;
      const { reason, endpoint_id, event_type } = first;
      const kind = { reason, endpoint_id, event_type };
      yield kind;
      after = behind(kind, asked);
      if (after === undefined) return;
    }
  }

  private count(scope: Scope, kind: DeadLetterKind, filter: DeadLetterFilter, atMost: number): Promise<number> {
    return this.deliveries.count(ofKind(scope, kind, filter), { atMost, index: INDEX });
  }
}

function ofKind(
  { workspace_id, environment }: Scope,
  { reason, endpoint_id, event_type }: DeadLetterKind,
  { since, until }: DeadLetterFilter,
): Filter {
  const times: Bounds = { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lte: until }) };
  const bounds = since === undefined && until === undefined ? {} : { event_created_at: times };
  return { workspace_id, environment, reason, endpoint_id, event_type, ...bounds };
}

function isAskedFor(kind: DeadLetterKind, asked: DeadLetterFilter): boolean {
  return parts(kind, asked).every(({ value, wanted }) => wanted?.includes(value) ?? true);
}

/** The place in the order behind which the next kind that is asked for lies; undefined behind the last. */
function behind(kind: DeadLetterKind, asked: DeadLetterFilter): readonly string[] | undefined {
  const place: string[] = [];
  for (const { value, wanted } of parts(kind, asked)) {
    if (wanted !== undefined && !wanted.includes(value)) {
      const [next] = wanted.filter((each) => each > value).toSorted();
      if (next !== undefined) return filled([...place, next], '');
      return place.length === 0 ? undefined : filled(place, END);
    }
    place.push(value);
  }
  return filled(place, END);
}

/** What a kind consists of, in the order of the index, and which of these the filter wants; all where it does not say. */
function parts(
  { reason, endpoint_id, event_type }: DeadLetterKind,
  asked: DeadLetterFilter,
): readonly { readonly value: string; readonly wanted: readonly string[] | undefined }[] {
  return [
    { value: reason, wanted: asked.reasons },
    { value: endpoint_id, wanted: asked.endpoint_id === undefined ? undefined : [asked.endpoint_id] },
    { value: event_type, wanted: asked.event_types },
  ];
}

function filled(place: readonly string[], by: string): readonly string[] {
  return [...place, ...ORDER.slice(place.length).map(() => by)];
}
