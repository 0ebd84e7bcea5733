import type { CollectionSpec, Filter, FilterCondition, Scan } from '@tracking/ports';
import { mongoFilter, rowsAfter, rowsUpTo, stored, type MongoFilter } from './mongo-filter.ts';

/** The entries of the index among which a scan looks, told by fields of the index alone. */
export function scannedRange(spec: CollectionSpec, { index, filter, sort, after }: Scan): MongoFilter {
  const { fields = [], arrayField } = spec.indexes.find(({ name }) => name === index) ?? {};
  const [first = ''] = sort.fields;
  const from = fields.indexOf(first);
  if (from < 0 || sort.fields.some((field, at) => fields[from + at] !== field)) {
    throw new TypeError(`${index} does not go on in the order of ${sort.fields.join()}`);
  }
  const range: Record<string, FilterCondition> = {};
  for (const field of fields.slice(0, from)) {
    const condition = field === arrayField ? leadOf(filter[field]) : filter[field];
    if (!isScalar(condition)) throw new TypeError(`${index}: the filter names no one ${field}`);
    range[field] = condition;
  }
  const bounds = filter[first];
  if (bounds !== undefined && isRange(bounds)) range[first] = bounds;
  const condition = mongoFilter(spec, range);
  if (after === undefined) return condition;
  return { $and: [condition, ...rowsAfter(sort.fields.map(stored), after, sort.descending === true)] };
}

/** What of them the scan answers, up to the last that it may look at. */
export function scannedDocuments(spec: CollectionSpec, scan: Scan, last: readonly unknown[] | undefined): MongoFilter {
  const { filter, sort, after } = scan;
  const [fields, descending] = [sort.fields.map(stored), sort.descending === true];
  return {
    $and: [
      mongoFilter(spec, filter),
      ...(after === undefined ? [] : rowsAfter(fields, after, descending)),
      ...(last === undefined ? [] : rowsUpTo(fields, last, descending)),
    ],
  };
}

function leadOf(condition: Filter[string] | undefined): FilterCondition | undefined {
  return condition !== null && typeof condition === 'object' && 'all' in condition ? condition.all[0] : condition;
}

function isScalar(
  condition: FilterCondition | undefined,
): condition is Extract<FilterCondition, string | number | boolean | null> {
  return condition === null || (condition !== undefined && typeof condition !== 'object');
}

function isRange(condition: FilterCondition): boolean {
  if (isScalar(condition)) return true;
  return !('in' in condition || 'ne' in condition || 'exists' in condition || 'all' in condition);
}
