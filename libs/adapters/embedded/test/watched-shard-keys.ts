/*
 * Reports operations on sharded collections that do not contain the shard key, so that a router of a sharded cluster
 * would send them to all shards. A query of many documents needs the beginning of the key, everything else the whole
 * key, and a stored document all of its fields. Reads by id find only documents with the requested values of the key,
 * as in MongoDB.
 */

import type {
  Collection,
  CollectionSpec,
  CollectionWrite,
  CountOptions,
  Document,
  Filter,
  FilterCondition,
  Query,
  DocumentReplacement,
  IndexScanQuery,
  ShardValues,
} from '@tracking/ports';
import { SqliteCollection } from '../src/sqlite-document-store.ts';

/** A query that may read from all shards, with the reason. */
interface QueryAllowedOnAllShards {
  readonly collection: string;
  /** Fields that the filter compares, sorted. */
  readonly fields: readonly string[];
  readonly why: string;
}
const READ_MODEL_ROW_COLLECTIONS = ['shipments', 'milestones', 'exceptions', 'documents', 'published_events'];
const QUERIES_ALLOWED_ON_ALL_SHARDS: readonly QueryAllowedOnAllShards[] = [
  ...READ_MODEL_ROW_COLLECTIONS.map((collection) => ({ collection, fields: [], why: 'an operator compares all rows' })),
  {
    collection: 'published_events',
    fields: ['created_at', 'position'],
    why: 'the feed of a process reads the new events of all workspaces once for all of its clients',
  },
  { collection: 'published_events', fields: ['position'], why: 'as above, where events do not expire' },
  { collection: 'published_events', fields: ['workspace_id'], why: 'the sweep looks for the next workspace' },
  { collection: 'documents', fields: ['deleted_at'], why: 'a job destroys the bytes of all deleted documents' },
  { collection: 'webhook_deliveries', fields: ['queue'], why: 'a process finds endpoints with pending deliveries' },
  { collection: 'webhook_deliveries', fields: ['workspace_id'], why: 'the sweep looks for the next workspace' },
  {
    collection: 'webhook_deliveries',
    fields: ['event_id', 'payload_id'],
    why: 'the sweep finds bodies without a delivery; a body has no scope',
  },
  { collection: 'webhook_payloads', fields: [], why: 'as above' },
  { collection: 'idempotency_claims', fields: ['expires_at'], why: 'the sweep deletes expired keys' },
  { collection: 'audit_log', fields: ['at'], why: 'the sweep deletes old entries of all workspaces' },
];

/** Files whose own operations are not checked. */
const TEST_FILE_PATTERN = /\.spec\.ts|\/test\/|\/libs\/testing\//;

const operationsWithoutShardKey = new Set<string>();

function isEquality(condition: FilterCondition | undefined): boolean {
  if (condition === undefined || condition === null) return false;
  return typeof condition !== 'object' || 'in' in condition;
}

/** Returns the number of leading fields of the shard key that the operation compares with values. */
function countComparedShardKeyFields(spec: CollectionSpec, filter: Filter, shards: ShardValues = {}): number {
  const key = [...(spec.shardKey ?? []), 'id'];
  const end = key.findIndex((field) => shards[field] === undefined && !isEquality(filter[field]));
  return end < 0 ? key.length : end;
}

/** Code of tests may read from all shards. The caller is the first line of the stack outside of the watching files. */
function recordOperationWithoutShardKeyOutsideTests(operation: string, spec: CollectionSpec, filter: Filter): void {
  const caller = new Error().stack?.split('\n').find((line, at) => at > 0 && !line.includes('watched-')) ?? '';
  if (TEST_FILE_PATTERN.test(caller)) return;
  const collection = spec.name.replace(/\.g\d+$/, '');
  const [place = caller] = /[\w-]+\.ts:\d+/.exec(caller) ?? [];
  operationsWithoutShardKey.add(
    `${collection}: ${operation} by ${Object.keys(filter).sort().join() || 'nothing'} (${place})`,
  );
}

function checkQueryShardKey(
  operation: string,
  spec: CollectionSpec,
  { filter, shards }: Pick<Query, 'filter' | 'shards'>,
) {
  if (spec.shardKey === undefined || countComparedShardKeyFields(spec, filter, shards) > 0) return;
  const fields = Object.keys(filter).sort().join();
  const collection = spec.name.replace(/\.g\d+$/, '');
  const isAllowed = QUERIES_ALLOWED_ON_ALL_SHARDS.some(
    (allowed) => allowed.collection === collection && allowed.fields.join() === fields,
  );
  if (!isAllowed) recordOperationWithoutShardKeyOutsideTests(operation, spec, filter);
}

/** Checks an operation on documents with known ids. */
function checkShardKeyIsComplete(operation: string, spec: CollectionSpec, filter: Filter, shards?: ShardValues): void {
  const { shardKey } = spec;
  if (shardKey !== undefined && countComparedShardKeyFields(spec, { ...filter, id: '' }, shards) <= shardKey.length)
    recordOperationWithoutShardKeyOutsideTests(operation, spec, filter);
}

function checkShardKeyOfStoredDocument(
  operation: string,
  { shardKey = [], ...spec }: CollectionSpec,
  document: Document,
): void {
  const fields = document as Document & Readonly<Record<string, unknown>>;
  if (shardKey.some((field) => typeof fields[field] !== 'string'))
    recordOperationWithoutShardKeyOutsideTests(operation, spec, { id: document.id });
}

function hasDocumentShardValues(document: Document, shards: ShardValues = {}): boolean {
  const fields = document as Document & Readonly<Record<string, string>>;
  return Object.entries(shards).every(([field, values]) => values.includes(fields[field] ?? ''));
}

// Every collection that a test's engine opens has this class.
type WatchedCollection = Collection<Document> & { readonly layout: { readonly spec: CollectionSpec } };
const {
  get,
  getMany,
  find,
  findWithinByteLimit,
  scan,
  count,
  sum,
  claim,
  insert,
  replace,
  replaceMany,
  upsert,
  delete: deleteOne,
  writeMany,
} = SqliteCollection.prototype as Collection<Document>;
Object.assign(SqliteCollection.prototype, {
  async get(this: WatchedCollection, id: string, shards?: ShardValues) {
    checkShardKeyIsComplete('get', this.layout.spec, {}, shards);
    const found = await get.call(this, id, shards);
    return found !== undefined && hasDocumentShardValues(found, shards) ? found : undefined;
  },
  async getMany(this: WatchedCollection, ids: readonly string[], shards?: ShardValues) {
    checkShardKeyIsComplete('getMany', this.layout.spec, {}, shards);
    return (await getMany.call(this, ids, shards)).filter((found) => hasDocumentShardValues(found, shards));
  },
  find(this: WatchedCollection, query: Query) {
    checkQueryShardKey('find', this.layout.spec, query);
    return find.call(this, query);
  },
  findWithinByteLimit(this: WatchedCollection, query: Query, maxBytes: number) {
    checkQueryShardKey('findWithinByteLimit', this.layout.spec, query);
    return findWithinByteLimit.call(this, query, maxBytes);
  },
  scan(this: WatchedCollection, query: IndexScanQuery) {
    checkQueryShardKey('scan', this.layout.spec, query);
    return scan.call(this, query);
  },
  count(this: WatchedCollection, filter: Filter, options?: CountOptions) {
    checkQueryShardKey('count', this.layout.spec, { filter, ...(options?.shards && { shards: options.shards }) });
    return count.call(this, filter, options);
  },
  sum(this: WatchedCollection, field: string, filter: Filter, index: string) {
    checkQueryShardKey('sum', this.layout.spec, { filter });
    return sum.call(this, field, filter, index);
  },
  claim(this: WatchedCollection, query: Omit<Query, 'limit' | 'after'>, set: object) {
    checkQueryShardKey('claim', this.layout.spec, query);
    return claim.call(this, query, set);
  },
  delete(this: WatchedCollection, id: string, guard?: Filter) {
    checkShardKeyIsComplete('delete', this.layout.spec, guard ?? {});
    return deleteOne.call(this, id, guard);
  },
  insert(this: WatchedCollection, document: Document) {
    checkShardKeyOfStoredDocument('insert', this.layout.spec, document);
    return insert.call(this, document);
  },
  replace(this: WatchedCollection, document: Document, guard?: Filter) {
    checkShardKeyOfStoredDocument('replace', this.layout.spec, document);
    return replace.call(this, document, guard);
  },
  replaceMany(this: WatchedCollection, replacements: readonly DocumentReplacement<Document>[]) {
    for (const { document } of replacements) checkShardKeyOfStoredDocument('replaceMany', this.layout.spec, document);
    return replaceMany.call(this, replacements);
  },
  upsert(this: WatchedCollection, document: Document, guard?: Filter) {
    checkShardKeyOfStoredDocument('upsert', this.layout.spec, document);
    return upsert.call(this, document, guard);
  },
  writeMany(this: WatchedCollection, writes: readonly CollectionWrite<Document>[]) {
    for (const write of writes)
      if (write.kind === 'delete') checkShardKeyIsComplete('delete', this.layout.spec, write.guard ?? {});
      else checkShardKeyOfStoredDocument(write.kind, this.layout.spec, write.document);
    return writeMany.call(this, writes);
  },
});

/** Forgets all operations before a suite, because other suites of the process may run any operation. */
export function forgetOperationsWithoutShardKey(): void {
  operationsWithoutShardKey.clear();
}

/** Returns the operations since the last reset that a router would send to all shards without a reason. */
export function findOperationsOnAllShards(): readonly string[] {
  return [...operationsWithoutShardKey].sort();
}
