import type { CollectionSpec, IndexSpec } from '@tracking/ports';
import type { IndexDescription } from 'mongodb';
import { toMongoFieldName } from './mongo-filter.ts';

/** MongoDB's name of the index of `_id`. */
export const ID_INDEX_NAME = '_id_';
/** Pattern of the names of indexes on the server: the name of the specification, and its version from 2. */
const MONGO_INDEX_NAME_WITH_VERSION_PATTERN = /^(.*?)(?:\.v(\d+))?$/;

/** Returns the key of an index, with MongoDB's field names. */
export function toMongoIndexKey({ fields }: IndexSpec): Record<string, 1> {
  return Object.fromEntries(fields.map((field) => [toMongoFieldName(field), 1 as const]));
}

/** The result is undefined for an index of the id alone, because that index always exists. */
export function toMongoIndex(index: IndexSpec): (IndexDescription & { readonly name: string }) | undefined {
  const { fields, arrayField, unique, only } = index;
  const key = toMongoIndexKey(index);
  if (Object.keys(key).join() === '_id') return undefined;
  const name = toServerIndexName(index);
  if (only !== undefined)
    return { name, key, partialFilterExpression: { [toMongoFieldName(only)]: { $exists: true } } };
  if (unique !== true) return { name, key };
  // Documents without a field are not indexed. An empty array has no element that could be a duplicate.
  const present = fields.map((field) =>
    field === arrayField ? `${toMongoFieldName(field)}.0` : toMongoFieldName(field),
  );
  return { name, key, unique, partialFilterExpression: Object.fromEntries(present.map((p) => [p, { $exists: true }])) };
}

/** Returns the server's name of an index. */
export function toMongoHint({ name, indexes }: CollectionSpec, index: string): string {
  const spec = indexes.find((one) => one.name === index);
  if (spec === undefined) throw new TypeError(`the collection ${name} has no index ${index}`);
  return toMongoIndex(spec)?.name ?? ID_INDEX_NAME;
}

/** Parses the server's name of an index. An index that this adapter did not create has version 1. */
export function parseIndexNameAndVersion(serverName: string): { readonly name: string; readonly version: number } {
  const [, name = serverName, version = '1'] = MONGO_INDEX_NAME_WITH_VERSION_PATTERN.exec(serverName) ?? [];
  return { name, version: Number(version) };
}

function toServerIndexName({ name, version = 1 }: IndexSpec): string {
  return version === 1 ? name : `${name}.v${version}`;
}
