import type { CollectionSpec, FilterCondition, Filter, IndexSpec, Query, Scalar } from '@tracking/ports';
import type { Filter as DriverFilter, IndexDescription, Sort } from 'mongodb';
import type { MongoDocument } from './mongo-document.ts';

export type MongoFilter = DriverFilter<MongoDocument>;
type Conditions = Record<string, unknown>;

const FIELD = /^[A-Za-z0-9_]+$/;

/** The port's filter with the port's meaning: MongoDB's own takes an absent field for null. */
export function mongoFilter(spec: CollectionSpec, filter: Filter): MongoFilter {
  const fields: Conditions = {};
  const also: Conditions[] = [];
  for (const [name, condition] of Object.entries(filter)) {
    const field = stored(name);
    for (const one of isAll(condition) ? condition.all : [condition]) {
      const conditions = mongoConditions(one);
      if (Object.keys(conditions).length === 0) continue;
      // Of an array, one element must lie within both bounds, not one within each.
      const given = isRange(conditions) && isArrayField(spec, name) ? { $elemMatch: conditions } : conditions;
      if (isRange(given) && !isScalarField(spec, name)) also.push(elementOrScalar(field, given));
      // The first of several leads: MongoDB takes for an index's bounds what it comes to first.
      else if (field in fields) also.push({ [field]: given });
      else fields[field] = given;
    }
  }
  return (also.length === 0 ? fields : { ...fields, $and: also }) as MongoFilter;
}

/** The document of this id, if the guard holds for it. */
export function guarded(spec: CollectionSpec, id: string, guard: Filter | undefined): MongoFilter {
  if (guard === undefined) return { _id: id };
  const condition = mongoFilter(spec, guard);
  return '_id' in condition ? { $and: [{ _id: id }, condition] } : { ...condition, _id: id };
}

export function mongoQuery(spec: CollectionSpec, { filter, sort, after }: Omit<Query, 'limit'>): MongoFilter {
  const condition = mongoFilter(spec, filter);
  if (sort === undefined || after === undefined) return condition;
  return { $and: [condition, ...rowsAfter(sort.fields.map(stored), after, sort.descending === true)] };
}

export function mongoSort(sort: Query['sort']): Sort {
  return (sort?.fields ?? []).map((field): [string, 1 | -1] => [stored(field), sort?.descending === true ? -1 : 1]);
}

/** Undefined for an index of the id alone, which there always is. */
export function mongoIndex({ name, fields, arrayField, unique, only }: IndexSpec): IndexDescription | undefined {
  const keys = fields.map(stored);
  if (keys.length === 1 && keys[0] === '_id') return undefined;
  const key = Object.fromEntries(keys.map((field) => [field, 1 as const]));
  if (only !== undefined) return { name, key, partialFilterExpression: { [stored(only)]: { $exists: true } } };
  if (unique !== true) return { name, key };
  // Documents that lack a field are not in the index; an empty array has no element that another could have too.
  const present = fields.map((field) => (field === arrayField ? `${stored(field)}.0` : stored(field)));
  return { name, key, unique, partialFilterExpression: Object.fromEntries(present.map((p) => [p, { $exists: true }])) };
}

/** The name by which the server has an index. */
export function mongoHint({ name, indexes }: CollectionSpec, index: string): string {
  const spec = indexes.find((one) => one.name === index);
  if (spec === undefined) throw new TypeError(`${name} has no index ${index}`);
  return mongoIndex(spec) === undefined ? '_id_' : index;
}

export function stored(field: string): string {
  if (!FIELD.test(field)) throw new TypeError(`not a top-level field: ${field}`);
  return field === 'id' ? '_id' : field;
}

function isAll(condition: FilterCondition): condition is Extract<FilterCondition, { readonly all: unknown }> {
  return condition !== null && typeof condition === 'object' && 'all' in condition;
}

function mongoConditions(condition: Exclude<FilterCondition, { readonly all: unknown }>): Conditions {
  if (condition === null || typeof condition !== 'object') return { $eq: condition, ...present([condition]) };
  if ('in' in condition) return { $in: condition.in, ...present(condition.in) };
  if ('ne' in condition) return condition.ne === null ? { $not: { $type: 'null' } } : { $ne: condition.ne };
  if ('exists' in condition) return { $exists: condition.exists };
  const bounds = Object.entries(condition).filter(([, value]) => value !== undefined);
  const conditions = Object.fromEntries(bounds.map(([bound, value]) => [`$${bound}`, value]));
  return { ...conditions, ...present(bounds.map(([, value]) => value)) };
}

/** What equals null must be there. */
function present(values: readonly Scalar[]): Conditions {
  return values.includes(null) ? { $exists: true } : {};
}

function isRange(conditions: Conditions): boolean {
  return ('$gt' in conditions || '$gte' in conditions) && ('$lt' in conditions || '$lte' in conditions);
}

function isArrayField({ indexes }: CollectionSpec, field: string): boolean {
  return indexes.some(({ arrayField }) => arrayField === field);
}

function isScalarField(spec: CollectionSpec, field: string): boolean {
  return field === 'id' || (!isArrayField(spec, field) && spec.indexes.some(({ fields }) => fields.includes(field)));
}

function elementOrScalar(field: string, range: Conditions): Conditions {
  return { $or: [{ [field]: { $elemMatch: range } }, { [field]: { ...range, $not: { $type: 'array' } } }] };
}

/** The same the other way, with the row itself. */
export function rowsUpTo(fields: readonly string[], last: readonly unknown[], descending: boolean): MongoFilter[] {
  const [before, upTo] = descending ? ['$gt', '$gte'] : ['$lt', '$lte'];
  const ends = fields.map((field, at) => ({
    ...Object.fromEntries(fields.slice(0, at).map((equal, of) => [equal, last[of]])),
    [field]: { [at === fields.length - 1 ? upTo : before]: last[at] },
  }));
  const [first] = fields;
  return first === undefined ? [] : [{ [first]: { [upTo]: last[0] } }, { $or: ends }];
}

/** Row values compared: beyond in one field, equal in all before it. The first bound, implied, is where an index begins. */
export function rowsAfter(fields: readonly string[], after: readonly Scalar[], descending: boolean): MongoFilter[] {
  const [beyond, from] = descending ? ['$lt', '$lte'] : ['$gt', '$gte'];
  const ends = fields.map((field, at) => ({
    ...Object.fromEntries(fields.slice(0, at).map((equal, of) => [equal, after[of]])),
    [field]: { [beyond]: after[at] },
  }));
  const [first] = fields;
  return first === undefined ? [] : [{ [first]: { [from]: after[0] } }, { $or: ends }];
}
