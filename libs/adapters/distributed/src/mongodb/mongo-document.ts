import type { Document } from '@tracking/ports';

/** A document as MongoDB has it. */
export interface MongoDocument {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** Keys that BSON gives a meaning of its own, or cannot hold, or that MongoDB takes for a path; and our own mark. */
const RESERVED = /^\$|^_bsontype$|^_json$|^__proto__$|[.\0]/;

export function toStored({ id, ...fields }: Document): MongoDocument {
  return { _id: id, ...storedFields(fields) };
}

export function fromStored<T extends Document>({ _id, ...fields }: MongoDocument): T {
  return { id: _id, ...(decoded(fields) as object) } as unknown as T;
}

/** Top-level fields have names of ours; what is in them may have names that clients chose. */
export function storedFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, encoded(value)]));
}

/** JSON has null for the numbers that it lacks. Absent fields stay absent by the driver's `ignoreUndefined`. */
function encoded(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(encoded);
  if (Object.keys(value).some((key) => RESERVED.test(key))) return { _json: JSON.stringify(value) };
  return storedFields(value);
}

function decoded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(decoded);
  if ('_json' in value) return JSON.parse(String(value._json));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, decoded(inner)]));
}
