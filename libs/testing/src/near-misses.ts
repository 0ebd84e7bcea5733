import type { CollectionSpec, Document, FilterCondition, Query, Scalar } from '@tracking/ports';

type FieldValue = Scalar | undefined;

/**
 * Creates documents that match a query, and before and after them documents that do not match for exactly one reason:
 * they differ in one field, or sort before the position from which the query continues.
 * @param count number of documents of each kind
 * @param isSkipped returns true for a field without near misses; `which` selects one of several conditions of the field
 */
export function generateNearlyMatchingDocuments(
  spec: CollectionSpec,
  query: Query,
  count: number,
  isSkipped: (field: string, which: number) => boolean = () => false,
): readonly Document[] {
  const conditions = groupConditionsByField(query);
  const arrays = new Set(spec.indexes.map(({ arrayField }) => arrayField));
  const made: Document[] = [];
  const make = (many: number, missed?: string, which?: number) => {
    for (const end = made.length + many; made.length < end;) {
      const n = made.length;
      const fields = [...conditions].map(([field, those]): [string, unknown] => {
        const except = field === missed ? which : undefined;
        if (!arrays.has(field)) return [field, chooseValueMeetingConditions(those, n, except)];
        // Each condition of an array field has its own element.
        const several = those.map((one, at) => chooseValueMeetingConditions([one], n, at === except ? 0 : undefined));
        return [
          field,
          several.every((one) => one === undefined) ? undefined : several.filter((one) => one !== undefined),
        ];
      });
      made.push({
        id: `d${padNumberWithZeros(n)}`,
        ...Object.fromEntries(fields.filter(([, one]) => one !== undefined)),
      });
    }
  };
  const makeOthers = () => {
    for (const [field, those] of conditions) {
      those.forEach((_, which) => {
        if (!isSkipped(field, which)) make(count, field, which);
      });
    }
  };
  makeOthers();
  make(count);
  makeOthers();
  return made;
}

/**
 * Returns the conditions by field. They come from the filter, the sort order, and the position from which the query
 * continues.
 */
function groupConditionsByField({ filter, sort, after }: Query): ReadonlyMap<string, readonly FilterCondition[]> {
  const all = new Map<string, readonly FilterCondition[]>(
    Object.entries(filter).map(([field, one]) => [field, hasAllOfOperator(one) ? one.all : [one]]),
  );
  sort?.fields.forEach((field, at) => {
    const from = at === 0 ? after?.[0] : undefined;
    const goesOn = from === undefined ? [] : [sort.descending === true ? { lt: from } : { gt: from }];
    all.set(field, [...(all.get(field) ?? []), ...goesOn]);
  });
  return all;
}

function hasAllOfOperator(
  condition: FilterCondition,
): condition is Extract<FilterCondition, { readonly all: unknown }> {
  return typeof condition === 'object' && condition !== null && 'all' in condition;
}

/**
 * Returns a value that meets all conditions, or all except one. Different numbers produce different values if possible.
 */
function chooseValueMeetingConditions(conditions: readonly FilterCondition[], n: number, except?: number): FieldValue {
  if (except === undefined && conditions.length === 1) {
    const [only] = conditions;
    const listed = typeof only === 'object' && only !== null && 'in' in only ? only.in : [];
    if (listed.length > 0) return listed[n % listed.length];
  }
  const missing = findFirstFittingValue(generateCandidateFieldValues(conditions, n), (candidate) =>
    conditions.every((one, at) => matchesCondition(candidate, one) === (at !== except)),
  );
  // If no value violates the condition, the document gets a value that meets it.
  return (
    missing ??
    findFirstFittingValue(generateCandidateFieldValues(conditions, n), (candidate) =>
      conditions.every((one) => matchesCondition(candidate, one)),
    )
  );
}

/** Yields candidates lazily, because one of the first usually fits. */
function* generateCandidateFieldValues(conditions: readonly FilterCondition[], n: number): Iterable<FieldValue> {
  for (const condition of conditions) {
    for (const one of listScalarsOfCondition(condition)) yield* generateNearbyValues(one, n);
  }
  yield `v${padNumberWithZeros(n)}`;
  yield n;
}

function findFirstFittingValue(values: Iterable<FieldValue>, fits: (value: FieldValue) => boolean): FieldValue {
  for (const one of values) {
    if (fits(one)) return one;
  }
  return undefined;
}

function* generateNearbyValues(one: Scalar, n: number): Iterable<FieldValue> {
  if (typeof one === 'string') {
    yield `${one}${padNumberWithZeros(n)}`;
    yield `${one.slice(0, -1)}${padNumberWithZeros(n)}`;
    yield ` ${padNumberWithZeros(n)}`;
  }
  if (typeof one === 'number') {
    yield one + 1 + n;
    yield one - 1 - n;
  }
  if (typeof one === 'boolean') yield !one;
  yield one;
}

function listScalarsOfCondition(condition: FilterCondition): readonly Scalar[] {
  if (condition === null || typeof condition !== 'object') return [condition];
  return Object.values(condition as object).flat() as Scalar[];
}

function padNumberWithZeros(n: number): string {
  return String(n).padStart(6, '0');
}

/** The value of a document's field that a filter can check. */
export type StoredField = Scalar | readonly Scalar[] | { readonly [member: string]: Scalar };

/** Checks a condition. The code follows the description of the port as plainly as possible. */
export function matchesCondition(value: StoredField | undefined, given: FilterCondition): boolean {
  if (given === null || typeof given !== 'object') return listScalarsOfStoredField(value).includes(given);
  if ('in' in given) return listScalarsOfStoredField(value).some((element) => given.in.includes(element));
  if ('ne' in given) return !listScalarsOfStoredField(value).includes(given.ne);
  if ('exists' in given) return (value !== undefined) === given.exists;
  if ('all' in given) return given.all.every((one) => matchesCondition(value, one));
  return listScalarsOfStoredField(value).some((element) =>
    Object.entries(given).every(([bound, limit]) => limit !== undefined && isValueWithinBound(bound, element, limit)),
  );
}

function listScalarsOfStoredField(value: StoredField | undefined): readonly Scalar[] {
  if (Array.isArray(value)) return value as readonly Scalar[];
  return value === undefined || (typeof value === 'object' && value !== null) ? [] : [value as Scalar];
}

function isValueWithinBound(bound: string, element: Scalar, limit: Scalar): boolean {
  if (element === null || limit === null) return element === limit && bound.endsWith('e');
  if (typeof element !== typeof limit) return false;
  return { gt: element > limit, gte: element >= limit, lt: element < limit, lte: element <= limit }[bound] ?? false;
}
