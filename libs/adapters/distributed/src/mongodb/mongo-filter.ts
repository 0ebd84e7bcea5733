import type { CollectionSpec, FilterCondition, Filter, IndexSpec, Query, Scalar } from '@tracking/ports';
import type { Filter as DriverFilter, IndexDescription, Sort } from 'mongodb';
import type { StoredDocument } from './stored-document.ts';

export type MongoFilter = DriverFilter<StoredDocument>;
type Conditions = Record<string, unknown>;

const FIELD = /^[A-Za-z0-9_]+$/;

/** The port's filter with the port's meaning: MongoDB's own takes an absent field for null. */
export function mongoFilter(spec: CollectionSpec, filter: Filter): MongoFilter {
  const fields: Conditions = {};
  const eithers: Conditions[] = [];
  for (const [name, condition] of Object.entries(filter)) {
    const field = stored(name);
    const conditions = mongoConditions(condition);
    if (Object.keys(conditions).length === 0) continue;
    if (!isRange(conditions) || isScalarField(spec, name)) fields[field] = conditions;
    // Of an array, one element must lie within both bounds, not one within each.
    else if (isArrayField(spec, name)) fields[field] = { $elemMatch: conditions };
    else eithers.push(elementOrScalar(field, conditions));
  }
  return (eithers.length === 0 ? fields : { ...fields, $and: eithers }) as MongoFilter;
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
export function mongoIndex({ name, fields, arrayField, unique }: IndexSpec): IndexDescription | undefined {
  const keys = fields.map(stored);
  if (keys.length === 1 && keys[0] === '_id') return undefined;
  const key = Object.fromEntries(keys.map((field) => [field, 1 as const]));
  if (unique !== true) return { name, key };
  // Documents that lack a field are not in the index; an empty array has no element that another could have too.
  const present = fields.map((field) => (field === arrayField ? `${stored(field)}.0` : stored(field)));
  return { name, key, unique, partialFilterExpression: Object.fromEntries(present.map((p) => [p, { $exists: true }])) };
}

function stored(field: string): string {
  if (!FIELD.test(field)) throw new TypeError(`not a top-level field: ${field}`);
  return field === 'id' ? '_id' : field;
}

function mongoConditions(condition: FilterCondition): Conditions {
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

/** Row values compared: beyond in one field, equal in all before it. The first bound, implied, is where an index begins. */
function rowsAfter(fields: readonly string[], after: readonly Scalar[], descending: boolean): MongoFilter[] {
  const [beyond, from] = descending ? ['$lt', '$lte'] : ['$gt', '$gte'];
  const ends = fields.map((field, at) => ({
    ...Object.fromEntries(fields.slice(0, at).map((equal, of) => [equal, after[of]])),
    [field]: { [beyond]: after[at] },
  }));
  const [first] = fields;
  return first === undefined ? [] : [{ [first]: { [from]: after[0] } }, { $or: ends }];
}
