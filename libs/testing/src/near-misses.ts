import type { CollectionSpec, FilterCondition, Document, Query, Scalar } from '@tracking/ports';
import { holds } from './holds.ts';

type Value = Scalar | undefined;

/**
 * Documents that a query asks for, and before and after them documents that it does not, each for one reason only: they
 * differ from the others in one field, or come before the place from which the query goes on.
 * @param count how many of each
 * @param leaving fields for whose sake there is no document that is not asked for
 */
export function nearMisses(
  spec: CollectionSpec,
  query: Query,
  count: number,
  leaving: readonly string[] = [],
): readonly Document[] {
  const conditions = conditionsOf(query);
  const arrays = new Set(spec.indexes.map(({ arrayField }) => arrayField));
  const made: Document[] = [];
  const make = (many: number, missed?: string, which?: number) => {
    for (const end = made.length + many; made.length < end;) {
      const n = made.length;
      const fields = [...conditions].map(([field, those]): [string, unknown] => {
        const one = value(those, n, field === missed ? which : undefined);
        return [field, arrays.has(field) && one !== undefined ? [one] : one];
      });
      made.push({ id: `d${padded(n)}`, ...Object.fromEntries(fields.filter(([, one]) => one !== undefined)) });
    }
  };
  const makeOthers = () => {
    for (const [field, those] of conditions) {
      if (!leaving.includes(field)) those.forEach((_, which) => make(count, field, which));
    }
  };
  makeOthers();
  make(count);
  makeOthers();
  return made;
}

/** By field: of the filter, of the order, and that of going on. */
function conditionsOf({ filter, sort, after }: Query): ReadonlyMap<string, readonly FilterCondition[]> {
  const all = new Map<string, readonly FilterCondition[]>(Object.entries(filter).map(([field, one]) => [field, [one]]));
  sort?.fields.forEach((field, at) => {
    const from = at === 0 ? after?.[0] : undefined;
    const goesOn = from === undefined ? [] : [sort.descending === true ? { lt: from } : { gt: from }];
    all.set(field, [...(all.get(field) ?? []), ...goesOn]);
  });
  return all;
}

/** A value for which these hold, or all but one of them; different ones for different numbers as far as there are any. */
function value(conditions: readonly FilterCondition[], n: number, except?: number): Value {
  const fits = (candidate: Value) => conditions.every((one, at) => holds(candidate, one) === (at !== except));
  const named = conditions.flatMap(scalarsOf);
  const candidates = [...named.flatMap((one) => around(one, n)), `v${padded(n)}`, n, undefined];
  if (except === undefined && conditions.length === 1) {
    const [only] = conditions;
    const listed = typeof only === 'object' && only !== null && 'in' in only ? only.in : [];
    if (listed.length > 0) return listed[n % listed.length];
  }
  // What nothing can miss, nothing does.
  return candidates.find(fits) ?? candidates.find((candidate) => conditions.every((one) => holds(candidate, one)));
}

function around(one: Scalar, n: number): readonly Value[] {
  if (typeof one === 'string') return [`${one}${padded(n)}`, `${one.slice(0, -1)}${padded(n)}`, ` ${padded(n)}`, one];
  if (typeof one === 'number') return [one + 1 + n, one - 1 - n, one];
  return typeof one === 'boolean' ? [!one, one] : [one];
}

function scalarsOf(condition: FilterCondition): readonly Scalar[] {
  if (condition === null || typeof condition !== 'object') return [condition];
  return Object.values(condition as object).flat() as Scalar[];
}

function padded(n: number): string {
  return String(n).padStart(6, '0');
}
