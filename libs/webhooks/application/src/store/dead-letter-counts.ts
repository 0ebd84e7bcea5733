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
    for await (const kind of this.kinds(scope)) {
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
    for await (const kind of this.kinds(scope)) {
      if (!isAskedFor(kind, filter)) continue;
      const query = { filter: ofKind(scope, kind, filter), sort, limit: 1, index: INDEX };
      for (const { endpoint_id, event_created_at: at } of await this.deliveries.find(query)) {
        if (at > (newest.get(endpoint_id) ?? '')) newest.set(endpoint_id, at);
      }
    }
    return newest;
  }

  /** Every kind that there is, found by skipping from one to the next. */
  private async *kinds({ workspace_id, environment }: Scope): AsyncIterable<DeadLetterKind> {
    const filter = { workspace_id, environment, reason: { exists: true } };
    let after: readonly string[] | undefined;
    for (;;) {
      const resume = after === undefined ? {} : { after };
      const query = { filter, sort: { fields: ORDER }, limit: 1, index: INDEX, ...resume };
      const [first] = await this.deliveries.find(query);
      if (first?.reason === undefined) return;
      const { reason, endpoint_id, event_type } = first;
      yield { reason, endpoint_id, event_type };
      after = [reason, endpoint_id, event_type, END];
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

function isAskedFor(kind: DeadLetterKind, { endpoint_id, event_types, reasons }: DeadLetterFilter): boolean {
  return (
    (endpoint_id === undefined || kind.endpoint_id === endpoint_id) &&
    (event_types === undefined || event_types.includes(kind.event_type)) &&
    (reasons === undefined || reasons.includes(kind.reason))
  );
}
