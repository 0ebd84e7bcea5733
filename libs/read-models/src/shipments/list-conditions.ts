import {
  type Mode,
  SHIPMENT_FILTERS,
  SHIPMENT_STATUSES,
  type ShipmentFilterKind,
  type ShipmentFilterName,
  type ShipmentRecord,
  type ShipmentStatus,
  listShipmentFilters,
} from '@tracking/contracts';
import type { Bounds, Filter, FilterCondition } from '@tracking/ports';
import type { SortValues } from '../read-model.ts';
import {
  prefixUpperBound,
  INACTIVE_STATUSES,
  TERM_FILTERS,
  toTerm,
  listSearchTerms,
  toWordTerm,
} from './shipment-terms.ts';

/** Sort fields of shipment lists, each with its own index. */
export const SHIPMENT_SORT_FIELDS = ['created_at', 'updated_at', 'eta'] as const;
export type ShipmentSortField = (typeof SHIPMENT_SORT_FIELDS)[number];

export interface ShipmentOrder {
  readonly field: ShipmentSortField;
  readonly descending: boolean;
}

/** Types of filter values, by kind of filter. Values are normalized like the stored values. */
type ValueOfKind = {
  readonly [Kind in ShipmentFilterKind]: Kind extends 'statuses'
    ? readonly ShipmentStatus[]
    : Kind extends 'flag'
      ? boolean
      : Kind extends 'mode'
        ? Mode
        : string;
};

/** Filters of a shipment list. A shipment must match all filters. */
export type ShipmentListFilter = {
  readonly [Name in Exclude<ShipmentFilterName, 'id' | 'q'>]?:
    ValueOfKind[(typeof SHIPMENT_FILTERS)[Name]['kind']] | undefined;
} & {
  /** Ids of the shipments to list. Every page reads all of these shipments, so pass only a few ids. */
  readonly ids?: readonly string[] | undefined;
  /**
   * Word prefixes. A shipment matches if each prefix begins one of its words; the prefixes are split by
   * `splitIntoWords`.
   */
  readonly words?: readonly string[] | undefined;
};

export interface ShipmentListQuery {
  readonly filter: ShipmentListFilter;
  /** Order of the list; newest first if absent. */
  readonly order?: ShipmentOrder | undefined;
  /** Maximum number of items in the page, at least 1. */
  readonly limit: number;
  /** `next` of the previous page with the same filter and order. */
  readonly after?: SortValues | undefined;
}

/** A list filter, converted to conditions on rows. */
export interface ListConditions {
  /** Terms that a row must have, all of them. */
  readonly terms: readonly string[];
  /** Statuses of which a row must have one; if absent, every status matches. */
  readonly statuses: readonly ShipmentStatus[] | undefined;
  /** Ranges of terms. A row must have at least one term in each range. */
  readonly words: readonly Bounds[];
  readonly ranges: { readonly [Field in ShipmentSortField]?: Bounds };
  /** Conditions that most rows meet. An index for such a condition is useless. */
  readonly common: { readonly has_open_exceptions?: false };
}

/** A condition that selects a range of an index. The range contains all matching rows and possibly other rows. */
export type LeadingCondition =
  | { readonly by: 'term'; readonly term: string }
  /** No row has two of them. */
  | { readonly by: 'statuses'; readonly terms: readonly string[] }
  | { readonly by: 'word'; readonly word: Bounds }
  | { readonly by: 'time'; readonly field: ShipmentSortField };

export function toRowFilter(filter: ShipmentListFilter): ListConditions {
  const terms = TERM_FILTERS.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : [toTerm(name, value)];
  });
  const { has_open_exceptions: hasOpen } = filter;
  if (hasOpen === true) terms.push(toTerm('has_open_exceptions', true));
  return {
    terms,
    statuses: requestedStatuses(filter),
    words: dropPrefixWords(filter.words ?? []).map((word) => ({
      gte: toWordTerm(word),
      lt: toWordTerm(prefixUpperBound(word)),
    })),
    ranges: toRanges(filter),
    common: hasOpen === false ? { has_open_exceptions: false } : {},
  };
}

/** Returns all conditions that can select an index range, usually the most selective condition first. */
export function leadingConditions({ terms, statuses, words, ranges }: ListConditions): readonly LeadingCondition[] {
  return [
    ...terms.map((one) => ({ by: 'term', term: one }) as const),
    ...words.map((word) => ({ by: 'word', word }) as const),
    ...(statuses === undefined ? [] : [{ by: 'statuses', terms: statusTerms(statuses) } as const]),
    ...Object.keys(ranges).map((field) => ({ by: 'time', field: field as ShipmentSortField }) as const),
  ];
}

/** Returns filters with the leading condition only, one filter for each range of its index. */
export function leadingFilters(scope: Filter, { ranges }: ListConditions, lead: LeadingCondition): readonly Filter[] {
  switch (lead.by) {
    case 'term':
      return [{ ...scope, terms: lead.term }];
    case 'statuses':
      return lead.terms.map((one) => ({ ...scope, terms: one }));
    case 'word':
      return [{ ...scope, terms: lead.word }];
    case 'time':
      return [{ ...scope, ...toRangeFilter(ranges, lead.field) }];
  }
}

/**
 * Returns filters with all conditions, one filter for each range of the leading condition's index. Without a leading
 * condition, the ranges are those of a sort index.
 */
export function rangeFilters(scope: Filter, conditions: ListConditions, lead?: LeadingCondition): readonly Filter[] {
  const { terms, statuses, words, ranges, common } = conditions;
  const every = { ...scope, ...ranges, ...common };
  if (lead === undefined || lead.by === 'time') {
    return [{ ...every, ...termsCondition([...terms, ...words]), ...statusCondition(statuses) }];
  }
  if (lead.by === 'statuses') {
    return lead.terms.map((one) => ({ ...every, ...termsCondition([one, ...terms, ...words]) }));
  }
  const first = lead.by === 'term' ? lead.term : lead.word;
  const inTerms = statuses === undefined ? [] : statusTerms(statuses);
  // If several statuses are requested, the index cannot tell which one a row has, so the `status` field is compared.
  const [asTerm, asField] = inTerms.length === 1 ? [inTerms, undefined] : [[], statuses];
  const others = [...terms, ...asTerm, ...words].filter((one) => one !== first);
  return [{ ...every, ...termsCondition([first, ...others]), ...statusCondition(asField) }];
}

/**
 * Returns true if a shipment meets the conditions. The result is the same as with an index, but computed from the
 * record alone.
 */
export function matchesConditions(
  record: ShipmentRecord,
  { terms, statuses, words, ranges, common }: ListConditions,
): boolean {
  if (statuses !== undefined && !statuses.includes(record.status)) return false;
  if (common.has_open_exceptions === false && record.open_exceptions_count > 0) return false;
  const own = listSearchTerms(record);
  // Only the lower bound of a word range is compared, because stores compare UTF-8 and JavaScript compares UTF-16.
  // units.
  const hasWord = ({ gte }: Bounds) => own.some((one) => one.startsWith(String(gte)));
  const inRange = SHIPMENT_SORT_FIELDS.every((field) => isWithinBounds(record[field], ranges[field]));
  return inRange && terms.every((one) => own.includes(one)) && words.every(hasWord);
}

function requestedStatuses({ status, active }: ShipmentListFilter): readonly ShipmentStatus[] | undefined {
  const statuses = SHIPMENT_STATUSES.filter(
    (one) => (status?.includes(one) ?? true) && (active === undefined || active !== INACTIVE_STATUSES.includes(one)),
  );
  return statuses.length === SHIPMENT_STATUSES.length ? undefined : statuses;
}

/**
 * Returns the smallest set of terms for the statuses. Each row with one of the statuses has exactly one of these terms.
 */
function statusTerms(statuses: readonly ShipmentStatus[]): readonly string[] {
  const underWay = SHIPMENT_STATUSES.every((one) => INACTIVE_STATUSES.includes(one) || statuses.includes(one));
  const others = statuses.filter((one) => !underWay || INACTIVE_STATUSES.includes(one));
  return [...(underWay ? [toTerm('active', true)] : []), ...others.map((one) => toTerm('status', one))];
}

/** Drops words that are prefixes of other words, because the longer words imply them. */
function dropPrefixWords(words: readonly string[]): readonly string[] {
  const different = [...new Set(words)];
  const longest = different.filter((one) => !different.some((other) => other !== one && other.startsWith(one)));
  return longest.sort((one, other) => other.length - one.length);
}

function toRanges(filter: ShipmentListFilter): ListConditions['ranges'] {
  const ranges: { [Field in ShipmentSortField]?: Bounds } = {};
  for (const name of listShipmentFilters('time')) {
    const value = filter[name];
    const [field, side] = SHIPMENT_FILTERS[name].bounds;
    if (value !== undefined) ranges[field] = { ...ranges[field], [side === 'from' ? 'gte' : 'lte']: value };
  }
  return ranges;
}

function termsCondition(all: readonly (string | Bounds)[]): { readonly terms?: FilterCondition } {
  const [only] = all;
  if (only === undefined) return {};
  return { terms: all.length === 1 ? only : { all } };
}

function statusCondition(statuses: readonly ShipmentStatus[] | undefined): { readonly status?: FilterCondition } {
  if (statuses === undefined) return {};
  const [only] = statuses;
  return { status: statuses.length === 1 && only !== undefined ? only : { in: statuses } };
}

function toRangeFilter(ranges: ListConditions['ranges'], field: ShipmentSortField): Filter {
  const bounds = ranges[field];
  return bounds === undefined ? {} : { [field]: bounds };
}

function isWithinBounds(value: string | null, bounds: Bounds | undefined): boolean {
  if (bounds === undefined) return true;
  if (value === null) return false;
  const { gte, lte } = bounds;
  return (gte === undefined || value >= String(gte)) && (lte === undefined || value <= String(lte));
}
