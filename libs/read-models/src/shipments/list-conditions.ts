import {
  type Mode,
  SHIPMENT_FILTERS,
  SHIPMENT_STATUSES,
  type ShipmentFilterKind,
  type ShipmentFilterName,
  type ShipmentRecord,
  type ShipmentStatus,
  listFilterNamesOfFilterKinds,
} from '@tracking/contracts';
import type { FieldBounds, Filter, FilterCondition } from '@tracking/ports';
import type { SortValues } from '../read-model.ts';
import {
  FIRST_VERSION_WITH_FOLDED_REFERENCES,
  listSearchedWords,
  prefixUpperBound,
  INACTIVE_STATUSES,
  EXACT_MATCH_TERM_FILTERS,
  createTermIndexEntry,
  listShipmentSearchTerms,
  createWordIndexEntry,
} from './shipment-terms.ts';

/** Sort fields of shipment lists, each with its own index. */
export const SHIPMENT_SORT_FIELDS = ['created_at', 'updated_at', 'eta'] as const;
export type ShipmentSortField = (typeof SHIPMENT_SORT_FIELDS)[number];

export interface ShipmentSortOrder {
  readonly field: ShipmentSortField;
  readonly descending: boolean;
}

/** Types of filter values, by kind of filter. Values are normalized like the stored values. */
type ValueOfKind = {
  readonly [Kind in ShipmentFilterKind]: Kind extends 'statuses'
    ? readonly ShipmentStatus[]
    : Kind extends 'flag'
      ? boolean
      : Kind extends 'modes'
        ? readonly Mode[]
        : Kind extends 'choices'
          ? readonly string[]
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
   * Parts of a search, as `splitIntoSearchParts` returns them. A shipment matches if each word of each part begins one
   * of its words.
   */
  readonly words?: readonly string[] | undefined;
  /**
   * The whole text of a search of several parts as one reference, as `foldReference` returns it. If no shipment matches
   * `words`, shipments with a reference that begins with this one match.
   */
  readonly phrase?: string | undefined;
};

export interface ShipmentListQuery {
  readonly filter: ShipmentListFilter;
  /** Order of the list; newest first if absent. */
  readonly order?: ShipmentSortOrder | undefined;
  /** Maximum number of items in the page, at least 1. */
  readonly limit: number;
  /** `next` of the previous page with the same filter and order. */
  readonly after?: SortValues | undefined;
}

/** A list filter, converted to conditions on rows. */
export interface ShipmentListConditions {
  /** Terms that a row must have, all of them. */
  readonly terms: readonly string[];
  /** Groups of terms. A row must have one term of each group, and no row has two terms of one group. */
  readonly alternatives: readonly (readonly string[])[];
  /** Statuses of which a row must have one; if absent, every status matches. */
  readonly statuses: readonly ShipmentStatus[] | undefined;
  /** Ranges of terms. A row must have at least one term in each range. */
  readonly words: readonly FieldBounds[];
  readonly ranges: { readonly [Field in ShipmentSortField]?: FieldBounds };
  /** Conditions that most rows meet. An index for such a condition is useless. */
  readonly common: { readonly has_open_exceptions?: false };
}

/** A condition that selects a range of an index. The range contains all matching rows and possibly other rows. */
export type LeadingCondition =
  | { readonly by: 'term'; readonly term: string }
  /** One of the groups of `alternatives`. No row has two of its terms. */
  | { readonly by: 'alternatives'; readonly terms: readonly string[] }
  /** No row has two of them. */
  | { readonly by: 'statuses'; readonly terms: readonly string[] }
  | { readonly by: 'word'; readonly word: FieldBounds }
  | { readonly by: 'time'; readonly field: ShipmentSortField };

/** @param version version of the read model that built the rows */
export function toRowFilter(
  filter: ShipmentListFilter,
  version = FIRST_VERSION_WITH_FOLDED_REFERENCES,
): ShipmentListConditions {
  const groups = EXACT_MATCH_TERM_FILTERS.flatMap((name) => {
    const value = filter[name];
    if (value === undefined) return [];
    const values = typeof value === 'string' ? [value] : value;
    return [values.map((one) => createTermIndexEntry(name, one, version))];
  });
  const terms = groups.flatMap((group) => (group.length === 1 ? group : []));
  const { has_open_exceptions: hasOpen } = filter;
  if (hasOpen === true) terms.push(createTermIndexEntry('has_open_exceptions', true));
  return {
    terms,
    alternatives: groups.filter(({ length }) => length !== 1),
    statuses: listRequestedStatuses(filter),
    words: dropPrefixWords(filter.words?.flatMap((part) => listSearchedWords(part, version)) ?? []).map((word) => ({
      gte: createWordIndexEntry(word),
      lt: createWordIndexEntry(prefixUpperBound(word)),
    })),
    ranges: convertTimeFiltersToFieldRanges(filter),
    common: hasOpen === false ? { has_open_exceptions: false } : {},
  };
}

/** Returns true if no row can meet the conditions, because a filter allows no value. */
export function areConditionsUnsatisfiable({ statuses, alternatives }: ShipmentListConditions): boolean {
  return statuses?.length === 0 || alternatives.some(({ length }) => length === 0);
}

/** Returns all conditions that can select an index range, usually the most selective condition first. */
export function listConditionsUsableForIndexRange(conditions: ShipmentListConditions): readonly LeadingCondition[] {
  const { terms, alternatives, statuses, words, ranges } = conditions;
  return [
    ...terms.map((one) => ({ by: 'term', term: one }) as const),
    ...words.map((word) => ({ by: 'word', word }) as const),
    ...alternatives.map((group) => ({ by: 'alternatives', terms: group }) as const),
    ...(statuses === undefined ? [] : [{ by: 'statuses', terms: chooseIndexTermsForStatusFilter(statuses) } as const]),
    ...Object.keys(ranges).map((field) => ({ by: 'time', field: field as ShipmentSortField }) as const),
  ];
}

/** Returns filters with the leading condition only, one filter for each range of its index. */
export function createFiltersOfLeadingCondition(
  scope: Filter,
  { ranges }: ShipmentListConditions,
  lead: LeadingCondition,
): readonly Filter[] {
  switch (lead.by) {
    case 'term':
      return [{ ...scope, terms: lead.term }];
    case 'alternatives':
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
export function createFiltersPerIndexRange(
  scope: Filter,
  conditions: ShipmentListConditions,
  lead?: LeadingCondition,
): readonly Filter[] {
  const { statuses, ranges, common } = conditions;
  const every = { ...scope, ...ranges, ...common };
  const elements = listNonLeadingTermConditions(conditions, lead);
  if (lead === undefined || lead.by === 'time') {
    return [{ ...every, ...combineTermConditionsWithAnd(elements), ...createStatusCondition(statuses) }];
  }
  if (lead.by === 'statuses') {
    return lead.terms.map((one) => ({ ...every, ...combineTermConditionsWithAnd([one, ...elements]) }));
  }
  const inTerms = statuses === undefined ? [] : chooseIndexTermsForStatusFilter(statuses);
  // If several statuses are requested, the index cannot tell which one a row has, so the `status` field is compared.
  const [asTerm, asField] = inTerms.length === 1 ? [inTerms, undefined] : [[], statuses];
  return listFirstTermConditionOfEachRange(lead).map((first) => ({
    ...every,
    ...combineTermConditionsWithAnd([first, ...asTerm, ...elements]),
    ...createStatusCondition(asField),
  }));
}

type ElementCondition = string | FieldBounds | { readonly in: readonly string[] };

/** Returns the conditions on the terms of a row, except the leading one. */
function listNonLeadingTermConditions(
  { terms, alternatives, words }: ShipmentListConditions,
  lead: LeadingCondition | undefined,
): readonly ElementCondition[] {
  return [
    ...terms.filter((term) => lead?.by !== 'term' || lead.term !== term),
    ...alternatives
      .filter((group) => lead?.by !== 'alternatives' || lead.terms !== group)
      .map((group) => ({ in: group })),
    ...words.filter((word) => lead?.by !== 'word' || lead.word !== word),
  ];
}

/** Returns the first condition on the terms of each range. */
function listFirstTermConditionOfEachRange(
  lead: Extract<LeadingCondition, { readonly by: 'term' | 'alternatives' | 'word' }>,
): readonly ElementCondition[] {
  if (lead.by === 'alternatives') return lead.terms;
  return [lead.by === 'term' ? lead.term : lead.word];
}

/**
 * Returns true if a shipment meets the conditions. The result is the same as with an index, but computed from the
 * record alone.
 */
export function matchesListConditions(
  record: ShipmentRecord,
  { terms, alternatives, statuses, words, ranges, common }: ShipmentListConditions,
): boolean {
  if (statuses !== undefined && !statuses.includes(record.status)) return false;
  if (common.has_open_exceptions === false && record.open_exceptions_count > 0) return false;
  const own = listShipmentSearchTerms(record);
  // Only the lower bound of a word range is compared, because stores compare UTF-8 and JavaScript compares UTF-16.
  const hasWord = ({ gte }: FieldBounds) => own.some((one) => one.startsWith(String(gte)));
  const inRange = SHIPMENT_SORT_FIELDS.every((field) => isWithinBounds(record[field], ranges[field]));
  const hasTerm = (one: string) => own.includes(one);
  const hasTerms = terms.every(hasTerm) && alternatives.every((group) => group.some(hasTerm));
  return inRange && hasTerms && words.every(hasWord);
}

function listRequestedStatuses({ status, active }: ShipmentListFilter): readonly ShipmentStatus[] | undefined {
  const statuses = SHIPMENT_STATUSES.filter(
    (one) => (status?.includes(one) ?? true) && (active === undefined || active !== INACTIVE_STATUSES.includes(one)),
  );
  return statuses.length === SHIPMENT_STATUSES.length ? undefined : statuses;
}

/**
 * Returns the smallest set of terms for the statuses. Each row with one of the statuses has exactly one of these terms.
 */
function chooseIndexTermsForStatusFilter(statuses: readonly ShipmentStatus[]): readonly string[] {
  const underWay = SHIPMENT_STATUSES.every((one) => INACTIVE_STATUSES.includes(one) || statuses.includes(one));
  const others = statuses.filter((one) => !underWay || INACTIVE_STATUSES.includes(one));
  return [
    ...(underWay ? [createTermIndexEntry('active', true)] : []),
    ...others.map((one) => createTermIndexEntry('status', one)),
  ];
}

/** Drops words that are prefixes of other words, because the longer words imply them. */
function dropPrefixWords(words: readonly string[]): readonly string[] {
  const different = [...new Set(words)];
  const longest = different.filter((one) => !different.some((other) => other !== one && other.startsWith(one)));
  return longest.sort((one, other) => other.length - one.length);
}

function convertTimeFiltersToFieldRanges(filter: ShipmentListFilter): ShipmentListConditions['ranges'] {
  const ranges: { [Field in ShipmentSortField]?: FieldBounds } = {};
  for (const name of listFilterNamesOfFilterKinds('time')) {
    const value = filter[name];
    const [field, side] = SHIPMENT_FILTERS[name].bounds;
    if (value !== undefined) ranges[field] = { ...ranges[field], [side === 'from' ? 'gte' : 'lte']: value };
  }
  return ranges;
}

function combineTermConditionsWithAnd(all: readonly ElementCondition[]): { readonly terms?: FilterCondition } {
  const [only] = all;
  if (only === undefined) return {};
  return { terms: all.length === 1 ? only : { all } };
}

function createStatusCondition(statuses: readonly ShipmentStatus[] | undefined): { readonly status?: FilterCondition } {
  if (statuses === undefined) return {};
  const [only] = statuses;
  return { status: statuses.length === 1 && only !== undefined ? only : { in: statuses } };
}

function toRangeFilter(ranges: ShipmentListConditions['ranges'], field: ShipmentSortField): Filter {
  const bounds = ranges[field];
  return bounds === undefined ? {} : { [field]: bounds };
}

function isWithinBounds(value: string | null, bounds: FieldBounds | undefined): boolean {
  if (bounds === undefined) return true;
  if (value === null) return false;
  const { gte, lte } = bounds;
  return (gte === undefined || value >= String(gte)) && (lte === undefined || value <= String(lte));
}
