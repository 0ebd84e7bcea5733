import type { WorkspaceScope, Timestamp } from '@tracking/contracts';
import type { FieldBounds, Collection, Filter } from '@tracking/ports';
import type { DeadLetterFilter } from '../operation-types.ts';
import type { DeliveryDocument } from './delivery-document.ts';

/** Fields shared by dead letters that are counted together. */
interface CommonFieldsOfCountedDeadLetters {
  readonly reason: string;
  readonly endpoint_id: string;
  readonly event_type: string;
}
export interface DeadLetterGroup extends CommonFieldsOfCountedDeadLetters {
  /** Number of dead letters, from 1. */
  readonly count: number;
  /** True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters. */
  readonly is_exact: boolean;
}
interface DeadLetterCountsByKind {
  readonly groups: readonly DeadLetterGroup[];
  /** True if the groups include all kinds of dead letters. */
  readonly isWhole: boolean;
}

/** Limits of counting, which bound the response time however many dead letters there are. */
interface DeadLetterCountLimits {
  readonly kinds: number;
  readonly ofEach: number;
  readonly inAll: number;
}
const DEAD_LETTER_COUNT_LIMITS: DeadLetterCountLimits = { kinds: 500, ofEach: 20_000, inAll: 100_000 };

const DEAD_LETTER_INDEX_NAME = 'dead_letters';
const DEAD_LETTER_INDEX_FIELDS = ['reason', 'endpoint_id', 'event_type', 'event_created_at'] as const;
/** A text that sorts after every timestamp. */
const TEXT_SORTED_AFTER_TIMESTAMPS = '~';

/** Counts the dead letters of a scope by reason, endpoint and event type, in the order of an index. */
export class DeadLetterCounter {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly limits = DEAD_LETTER_COUNT_LIMITS,
  ) {}

  /** Counts the matching dead letters by kind. Reads at most three rows for each kind, plus `inAll` rows. */
  async countDeadLettersByKind(scope: WorkspaceScope, filter: DeadLetterFilter): Promise<DeadLetterCountsByKind> {
    const groups: DeadLetterGroup[] = [];
    let left = this.limits.inAll;
    let kinds = 0;
    for await (const kind of this.listDeadLetterKinds(scope, filter)) {
      if (kinds === this.limits.kinds) return { groups, isWhole: false };
      kinds += 1;
      if (!matchesDeadLetterFilter(kind, filter)) continue;
      // Read at least one row, because each kind has at least one dead letter.
      const most = Math.max(1, Math.min(this.limits.ofEach, left));
      const count = await this.countDeadLetters(scope, kind, filter, most + 1);
      left -= Math.min(count, most);
      if (count > 0) groups.push({ ...kind, count: Math.min(count, most), is_exact: count <= most });
    }
    return { groups, isWhole: true };
  }

  /** Returns the endpoints with matching dead letters, each with the creation time of its newest event. */
  async findNewestDeadLetterTimes(
    scope: WorkspaceScope,
    filter: DeadLetterFilter,
  ): Promise<ReadonlyMap<string, Timestamp>> {
    const newest = new Map<string, Timestamp>();
    const sort = { fields: ['event_created_at'], descending: true };
    for await (const kind of this.listDeadLetterKinds(scope, filter)) {
      if (!matchesDeadLetterFilter(kind, filter)) continue;
      const query = {
        filter: createDeadLetterKindFilter(scope, kind, filter),
        sort,
        limit: 1,
        index: DEAD_LETTER_INDEX_NAME,
      };
      for (const { endpoint_id, event_created_at: at } of await this.deliveries.find(query)) {
        if (at > (newest.get(endpoint_id) ?? '')) newest.set(endpoint_id, at);
      }
    }
    return newest;
  }

  /**
   * Yields the kinds of dead letters, by skipping from kind to kind in the index. Some of the kinds may not match the
   * filter.
   */
  private async *listDeadLetterKinds(
    { workspace_id, environment }: WorkspaceScope,
    asked: DeadLetterFilter,
  ): AsyncIterable<CommonFieldsOfCountedDeadLetters> {
    const filter = { workspace_id, environment, reason: { exists: true } };
    let after: readonly string[] | undefined;
    for (;;) {
      const resume = after === undefined ? {} : { after };
      const query = {
        filter,
        sort: { fields: DEAD_LETTER_INDEX_FIELDS },
        limit: 1,
        index: DEAD_LETTER_INDEX_NAME,
        ...resume,
      };
      const [first] = await this.deliveries.find(query);
      if (first?.reason === undefined) return;
      const { reason, endpoint_id, event_type } = first;
      const kind = { reason, endpoint_id, event_type };
      yield kind;
      after = findPositionBeforeNextDeadLetterKind(kind, asked);
      if (after === undefined) return;
    }
  }

  private countDeadLetters(
    scope: WorkspaceScope,
    kind: CommonFieldsOfCountedDeadLetters,
    filter: DeadLetterFilter,
    atMost: number,
  ): Promise<number> {
    return this.deliveries.count(createDeadLetterKindFilter(scope, kind, filter), {
      atMost,
      index: DEAD_LETTER_INDEX_NAME,
    });
  }
}

function createDeadLetterKindFilter(
  { workspace_id, environment }: WorkspaceScope,
  { reason, endpoint_id, event_type }: CommonFieldsOfCountedDeadLetters,
  { since, until }: DeadLetterFilter,
): Filter {
  const times: FieldBounds = { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lte: until }) };
  const bounds = since === undefined && until === undefined ? {} : { event_created_at: times };
  return { workspace_id, environment, reason, endpoint_id, event_type, ...bounds };
}

function matchesDeadLetterFilter(kind: CommonFieldsOfCountedDeadLetters, asked: DeadLetterFilter): boolean {
  return listDeadLetterKindFields(kind, asked).every(({ value, wanted }) => wanted?.includes(value) ?? true);
}

/** Returns the index position after which the next matching kind follows; undefined after the last kind. */
function findPositionBeforeNextDeadLetterKind(
  kind: CommonFieldsOfCountedDeadLetters,
  asked: DeadLetterFilter,
): readonly string[] | undefined {
  const place: string[] = [];
  for (const { value, wanted } of listDeadLetterKindFields(kind, asked)) {
    if (wanted !== undefined && !wanted.includes(value)) {
      const [next] = wanted.filter((each) => each > value).toSorted();
      if (next !== undefined) return fillMissingDeadLetterIndexFields([...place, next], '');
      return place.length === 0 ? undefined : fillMissingDeadLetterIndexFields(place, TEXT_SORTED_AFTER_TIMESTAMPS);
    }
    place.push(value);
  }
  return fillMissingDeadLetterIndexFields(place, TEXT_SORTED_AFTER_TIMESTAMPS);
}

/** Returns the fields of a kind in index order, each with the values that match; undefined matches all. */
function listDeadLetterKindFields(
  { reason, endpoint_id, event_type }: CommonFieldsOfCountedDeadLetters,
  asked: DeadLetterFilter,
): readonly { readonly value: string; readonly wanted: readonly string[] | undefined }[] {
  return [
    { value: reason, wanted: asked.reasons },
    { value: endpoint_id, wanted: asked.endpoint_id === undefined ? undefined : [asked.endpoint_id] },
    { value: event_type, wanted: asked.event_types },
  ];
}

function fillMissingDeadLetterIndexFields(place: readonly string[], by: string): readonly string[] {
  return [...place, ...DEAD_LETTER_INDEX_FIELDS.slice(place.length).map(() => by)];
}
