import type { Filter as DriverFilter, Sort } from 'mongodb';
import {
  toShardFilter,
  type CollectionSpec,
  type Document,
  type Filter,
  type FilterCondition,
  type Query,
  type Scalar,
  type IndexScanQuery,
} from '@tracking/ports';

const FIELD_NAME_PATTERN = /^[A-Za-z0-9_]+$/;
/**
 * Pattern of keys that a filter must not contain: keys with a special meaning in BSON, keys that BSON cannot store,
 * paths, and the marker of this adapter.
 */
const RESERVED_KEY_PATTERN = /^\$|^_bsontype$|^_json$|^__proto__$|[.\0]/;

type MongoFilter = DriverFilter<MongoDocument>;
type Conditions = Record<string, unknown>;
/** Shard key and id of a stored document. */
type ShardKey = Pick<MongoDocument, '_id'> & Readonly<Record<string, string>>;

/** Translates a filter with the port's meaning. MongoDB's own filters treat an absent field as null. */
export function toMongoFilter(spec: CollectionSpec, filter: Filter): MongoFilter {
  const fields: Conditions = {};
  const also: Conditions[] = [];
  for (const [name, condition] of Object.entries(filter)) {
    const field = toMongoFieldName(name);
    for (const one of hasAllOfOperator(condition) ? condition.all : [condition]) {
      const conditions = toMongoConditions(one);
      if (Object.keys(conditions).length === 0) continue;
      // For arrays, one element must lie within both bounds.
      const given = isRangeCondition(conditions) && isArrayField(spec, name) ? { $elemMatch: conditions } : conditions;
      if (isRangeCondition(given) && !isIdOrScalarIndexedField(spec, name))
        also.push(createElementOrScalarCondition(field, given));
      // The first of several leads: MongoDB takes for an index's bounds what it comes to first.
      else if (field in fields) also.push({ [field]: given });
      else fields[field] = given;
    }
  }
  return (also.length === 0 ? fields : { ...fields, $and: also }) as MongoFilter;
}

/**
 * Returns a filter for the stored form of a document if the guard matches. The filter compares the whole shard key,
 * which MongoDB requires for an upsert in a sharded collection:
 * https://www.mongodb.com/docs/manual/core/sharded-cluster-requirements/
 */
export function createGuardedDocumentFilter(
  spec: CollectionSpec,
  document: Document,
  guard: Filter | undefined,
): MongoFilter {
  return toShardKeyFilter(spec, pickShardKeyAndId(spec, { ...document, _id: document.id }), guard);
}

/**
 * Returns a filter for the document of this id if the guard matches. In a sharded collection, the guard compares the
 * rest of the shard key.
 */
export function createFilterByIdAndGuard(spec: CollectionSpec, id: string, guard: Filter | undefined): MongoFilter {
  return toShardKeyFilter(spec, { _id: id }, guard);
}

/** Returns a filter for the document with this shard key and id if the guard matches. */
export function toShardKeyFilter(spec: CollectionSpec, key: ShardKey, guard: Filter | undefined): MongoFilter {
  if (guard === undefined) return key;
  const condition = toMongoFilter(spec, guard);
  const isCompared = Object.keys(key).some((field) => field in condition);
  return isCompared ? { $and: [key, condition] } : { ...condition, ...key };
}

/**
 * Returns the shard key and the id of a stored document. Values of the key are texts, so their stored form is the same.
 */
export function pickShardKeyAndId({ shardKey = [] }: CollectionSpec, stored: MongoDocument): ShardKey {
  const fields = shardKey.map((field) => [field, stored[field]]).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(fields), _id: stored._id };
}

export function toMongoQuery(spec: CollectionSpec, query: Omit<Query, 'limit'>): MongoFilter {
  const { filter, sort, after, shards = {} } = query;
  const condition = toMongoFilter(spec, { ...toShardFilter(shards), ...filter });
  if (sort === undefined || after === undefined) return condition;
  return {
    $and: [condition, ...createFilterForLaterRows(sort.fields.map(toMongoFieldName), after, sort.descending === true)],
  };
}

export function toMongoSort(sort: Query['sort']): Sort {
  return (sort?.fields ?? []).map((field): [string, 1 | -1] => [
    toMongoFieldName(field),
    sort?.descending === true ? -1 : 1,
  ]);
}

export function toMongoFieldName(field: string): string {
  if (!FIELD_NAME_PATTERN.test(field))
    throw new TypeError(`cannot filter by ${field}: only top-level fields are supported`);
  return field === 'id' ? '_id' : field;
}

function hasAllOfOperator(
  condition: FilterCondition,
): condition is Extract<FilterCondition, { readonly all: unknown }> {
  return condition !== null && typeof condition === 'object' && 'all' in condition;
}

function toMongoConditions(condition: Exclude<FilterCondition, { readonly all: unknown }>): Conditions {
  if (condition === null || typeof condition !== 'object')
    return { $eq: condition, ...createFieldPresenceConditions([condition]) };
  if ('in' in condition) return { $in: condition.in, ...createFieldPresenceConditions(condition.in) };
  if ('ne' in condition) return condition.ne === null ? { $not: { $type: 'null' } } : { $ne: condition.ne };
  if ('exists' in condition) return { $exists: condition.exists };
  const bounds = Object.entries(condition).filter(([, value]) => value !== undefined);
  const conditions = Object.fromEntries(bounds.map(([bound, value]) => [`$${bound}`, value]));
  return { ...conditions, ...createFieldPresenceConditions(bounds.map(([, value]) => value)) };
}

/** A field that must equal null must also be present. */
function createFieldPresenceConditions(values: readonly Scalar[]): Conditions {
  return values.includes(null) ? { $exists: true } : {};
}

function isRangeCondition(conditions: Conditions): boolean {
  return ('$gt' in conditions || '$gte' in conditions) && ('$lt' in conditions || '$lte' in conditions);
}

function isArrayField({ indexes }: CollectionSpec, field: string): boolean {
  return indexes.some(({ arrayField }) => arrayField === field);
}

function isIdOrScalarIndexedField(spec: CollectionSpec, field: string): boolean {
  return field === 'id' || (!isArrayField(spec, field) && spec.indexes.some(({ fields }) => fields.includes(field)));
}

function createElementOrScalarCondition(field: string, range: Conditions): Conditions {
  return { $or: [{ [field]: { $elemMatch: range } }, { [field]: { ...range, $not: { $type: 'array' } } }] };
}

/** Builds the condition for all rows up to the given row of the sort order, including the row itself. */
function createFilterUpToRow(fields: readonly string[], last: readonly unknown[], descending: boolean): MongoFilter[] {
  const [before, upTo] = descending ? ['$gt', '$gte'] : ['$lt', '$lte'];
  const ends = fields.map((field, at) => ({
    ...Object.fromEntries(fields.slice(0, at).map((equal, of) => [equal, last[of]])),
    [field]: { [at === fields.length - 1 ? upTo : before]: last[at] },
  }));
  const [first] = fields;
  return first === undefined ? [] : [{ [first]: { [upTo]: last[0] } }, { $or: ends }];
}

/**
 * Compares rows by their values: a later row is greater in one field and equal in all fields before it. The first bound
 * is redundant and marks where the index range starts.
 */
function createFilterForLaterRows(
  fields: readonly string[],
  after: readonly Scalar[],
  descending: boolean,
): MongoFilter[] {
  const [beyond, from] = descending ? ['$lt', '$lte'] : ['$gt', '$gte'];
  const ends = fields.map((field, at) => ({
    ...Object.fromEntries(fields.slice(0, at).map((equal, of) => [equal, after[of]])),
    [field]: { [beyond]: after[at] },
  }));
  const [first] = fields;
  return first === undefined ? [] : [{ [first]: { [from]: after[0] } }, { $or: ends }];
}

/** Document as MongoDB stores it. */
export interface MongoDocument {
  readonly _id: string;
  readonly [field: string]: unknown;
}

export function toStoredDocument({ id, ...fields }: Document): MongoDocument {
  return { _id: id, ...encodeFieldValuesForMongo(fields) };
}

export function fromStoredDocument<T extends Document>({ _id, ...fields }: MongoDocument): T {
  return { id: _id, ...(decodeMongoValue(fields) as object) } as unknown as T;
}

/** This program chooses the names of top-level fields. Clients may choose names inside field values. */
export function encodeFieldValuesForMongo(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, convertToMongoStorableValue(value)]),
  );
}

/** JSON encodes non-finite numbers as null. With the driver's `ignoreUndefined`, absent fields stay absent. */
function convertToMongoStorableValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(convertToMongoStorableValue);
  if (Object.keys(value).some((key) => RESERVED_KEY_PATTERN.test(key))) return { _json: JSON.stringify(value) };
  return encodeFieldValuesForMongo(value);
}

function decodeMongoValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(decodeMongoValue);
  if ('_json' in value) return JSON.parse(String(value._json));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, decodeMongoValue(inner)]));
}

/** Returns a filter for the index entries that a scan visits. It uses only fields of the index and the shard key. */
export function createScanIndexFilter(
  spec: CollectionSpec,
  { index, filter, sort, after }: IndexScanQuery,
): MongoFilter {
  const { fields = [], arrayField } = spec.indexes.find(({ name }) => name === index) ?? {};
  const [first = ''] = sort.fields;
  const from = fields.indexOf(first);
  if (from < 0 || sort.fields.some((field, at) => fields[from + at] !== field)) {
    throw new TypeError(`cannot scan: index ${index} is not sorted by ${sort.fields.join()}`);
  }
  const range: Record<string, FilterCondition> = pickShardKeyConditions(spec, filter);
  for (const field of fields.slice(0, from)) {
    const condition = field === arrayField ? findIndexSearchCondition(filter[field]) : filter[field];
    if (!isScalar(condition))
      throw new TypeError(`cannot scan index ${index}: the filter must compare ${field} with one value`);
    range[field] = condition;
  }
  const bounds = filter[first];
  if (bounds !== undefined && isScalarOrBounds(bounds)) range[first] = bounds;
  const condition = toMongoFilter(spec, range);
  if (after === undefined) return condition;
  return {
    $and: [condition, ...createFilterForLaterRows(sort.fields.map(toMongoFieldName), after, sort.descending === true)],
  };
}

/** Returns the conditions of the filter on fields of the shard key. */
function pickShardKeyConditions({ shardKey = [] }: CollectionSpec, filter: Filter): Record<string, FilterCondition> {
  const conditions = shardKey.map((field) => [field, filter[field]] as const);
  return Object.fromEntries(conditions.filter(([, condition]) => condition !== undefined)) as Record<
    string,
    FilterCondition
  >;
}

/** Returns a query for the documents of the scan, up to the last entry that it may visit. */
export function createScanDocumentsFilter(
  spec: CollectionSpec,
  scan: IndexScanQuery,
  last: readonly unknown[] | undefined,
): MongoFilter {
  const { filter, sort, after } = scan;
  const [fields, descending] = [sort.fields.map(toMongoFieldName), sort.descending === true];
  return {
    $and: [
      toMongoFilter(spec, filter),
      ...(after === undefined ? [] : createFilterForLaterRows(fields, after, descending)),
      ...(last === undefined ? [] : createFilterUpToRow(fields, last, descending)),
    ],
  };
}

function findIndexSearchCondition(condition: Filter[string] | undefined): FilterCondition | undefined {
  return condition !== null && typeof condition === 'object' && 'all' in condition ? condition.all[0] : condition;
}

function isScalar(
  condition: FilterCondition | undefined,
): condition is Extract<FilterCondition, string | number | boolean | null> {
  return condition === null || (condition !== undefined && typeof condition !== 'object');
}

function isScalarOrBounds(condition: FilterCondition): boolean {
  if (isScalar(condition)) return true;
  return !('in' in condition || 'ne' in condition || 'exists' in condition || 'all' in condition);
}
