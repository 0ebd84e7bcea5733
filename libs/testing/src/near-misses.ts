import type { CollectionSpec, Document, FilterCondition, Query, Scalar } from '@tracking/ports';

type Value = Scalar | undefined;

/**
 * Documents that a query asks for, and before and after them documents that it does not, each for one reason only: they
 * differ from the others in one field, or come before the place from which the query goes on.
 * @param count how many of each
 * @param leaves tells of a field for whose sake there is no document that is not asked for; of several conditions of one
 * field, `all` for one, which of them
 */
export function nearMisses(
  spec: CollectionSpec,
  query: Query,
  count: number,
  leaves: (field: string, which: number) => boolean = () => false,
): readonly Document[] {
  const conditions = conditionsOf(query);
  const arrays = new Set(spec.indexes.map(({ arrayField }) => arrayField));
  const made: Document[] = [];
  const make = (many: number, missed?: string, which?: number) => {
    for (const end = made.length + many; made.length < end;) {
      const n = made.length;
      const fields = [...conditions].map(([field, those]): [string, unknown] => {
        const except = field === missed ? which : undefined;
        if (!arrays.has(field)) return [field, value(those, n, except)];
        // Each condition of an array has an element of its own.
        const several = those.map((one, at) => value([one], n, at === except ? 0 : undefined));
        return [
          field,
          several.every((one) => one === undefined) ? undefined : several.filter((one) => one !== undefined),
        ];
      });
      made.push({ id: `d${padded(n)}`, ...Object.fromEntries(fields.filter(([, one]) => one !== undefined)) });
    }
  };
  const makeOthers = () => {
    for (const [field, those] of conditions) {
      those.forEach((_, which) => {
        if (!leaves(field, which)) make(count, field, which);
      });
    }
  };
  makeOthers();
  make(count);
  makeOthers();
  return made;
}

/** By field: of the filter, of the order, and that of going on. */
function conditionsOf({ filter, sort, after }: Query): ReadonlyMap<string, readonly FilterCondition[]> {
  const all = new Map<string, readonly FilterCondition[]>(
    Object.entries(filter).map(([field, one]) => [field, isAll(one) ? one.all : [one]]),
  );
  sort?.fields.forEach((field, at) => {
    const from = at === 0 ? after?.[0] : undefined;
    const goesOn = from === undefined ? [] : [sort.descending === true ? { lt: from } : { gt: from }];
    all.set(field, [...(all.get(field) ?? []), ...goesOn]);
  });
  return all;
}

function isAll(condition: FilterCondition): condition is Extract<FilterCondition, { readonly all: unknown }> {
  return typeof condition === 'object' && condition !== null && 'all' in condition;
}

/** A value for which these hold, or all but one of them; different ones for different numbers as far as there are any. */
function value(conditions: readonly FilterCondition[], n: number, except?: number): Value {
  if (except === undefined && conditions.length === 1) {
    const [only] = conditions;
    const listed = typeof only === 'object' && only !== null && 'in' in only ? only.in : [];
    if (listed.length > 0) return listed[n % listed.length];
  }
  const missing = first(candidates(conditions, n), (candidate) =>
    conditions.every((one, at) => holds(candidate, one) === (at !== except)),
  );
  // Conditions that no value misses get a value that meets them.
  return missing ?? first(candidates(conditions, n), (candidate) => conditions.every((one) => holds(candidate, one)));
}

/** Made one by one: the first few fit mostly. */
function* candidates(conditions: readonly FilterCondition[], n: number): Iterable<Value> {
  for (const condition of conditions) {
    for (const one of scalarsOf(condition)) yield* around(one, n);
  }
  yield `v${padded(n)}`;
  yield n;
}

function first(values: Iterable<Value>, fits: (value: Value) => boolean): Value {
  for (const one of values) {
    if (fits(one)) return one;
  }
  return undefined;
}

function* around(one: Scalar, n: number): Iterable<Value> {
  if (typeof one === 'string') {
    yield `${one}${padded(n)}`;
    yield `${one.slice(0, -1)}${padded(n)}`;
    yield ` ${padded(n)}`;
  }
  if (typeof one === 'number') {
    yield one + 1 + n;
    yield one - 1 - n;
  }
  if (typeof one === 'boolean') yield !one;
  yield one;
}

function scalarsOf(condition: FilterCondition): readonly Scalar[] {
  if (condition === null || typeof condition !== 'object') return [condition];
  return Object.values(condition as object).flat() as Scalar[];
}

function padded(n: number): string {
  return String(n).padStart(6, '0');
}

/** A value of a document that a filter can check. */
export type StoredField = Scalar | readonly Scalar[] | { readonly [member: string]: Scalar };

/** The port's words about conditions, as plainly as they can be written. */
export function holds(value: StoredField | undefined, given: FilterCondition): boolean {
  if (given === null || typeof given !== 'object') return elements(value).includes(given);
  if ('in' in given) return elements(value).some((element) => given.in.includes(element));
  if ('ne' in given) return !elements(value).includes(given.ne);
  if ('exists' in given) return (value !== undefined) === given.exists;
  if ('all' in given) return given.all.every((one) => holds(value, one));
  return elements(value).some((element) =>
    Object.entries(given).every(([bound, limit]) => limit !== undefined && within(bound, element, limit)),
  );
}

function elements(value: StoredField | undefined): readonly Scalar[] {
  if (Array.isArray(value)) return value as readonly Scalar[];
  return value === undefined || (typeof value === 'object' && value !== null) ? [] : [value as Scalar];
}

function within(bound: string, element: Scalar, limit: Scalar): boolean {
  if (element === null || limit === null) return element === limit && bound.endsWith('e');
  if (typeof element !== typeof limit) return false;
  return { gt: element > limit, gte: element >= limit, lt: element < limit, lte: element <= limit }[bound] ?? false;
}
