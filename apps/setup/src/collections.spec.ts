import { readFile } from 'node:fs/promises';
import type { CollectionSpec, DocumentStore, IndexSpec } from '@tracking/ports';
import { ATTEMPTS_COLLECTION_SPEC, PAYLOADS_COLLECTION_SPEC } from '@tracking/webhooks';
import { listIndexedCollections } from './collections.ts';

/** Definitions of all versions of all indexes, by collection and by index with its version from 2: `by_time.v2`. */
type RecordedIndexes = Readonly<Record<string, Readonly<Record<string, Omit<IndexSpec, 'name' | 'version'>>>>>;

const RECORD = new URL('../index-versions.json', import.meta.url);

/** Lists the collections as if each read model had three generations. */
async function listCollections(): Promise<readonly CollectionSpec[]> {
  const pointerOf = (id: string) => ({ id, active: 2, building: 3, retiring: 1, model_version: Infinity, version: 1 });
  const pointers = { getMany: (ids: readonly string[]) => Promise.resolve(ids.map(pointerOf)) };
  return listIndexedCollections({ collection: () => Promise.resolve(pointers) } as unknown as DocumentStore);
}

const readRecord = async () => JSON.parse(await readFile(RECORD, 'utf8')) as RecordedIndexes;

it('lists all generations of a read model', async () => {
  const names = (await listCollections()).map(({ name }) => name);
  expect(names.filter((name) => name.startsWith('shipments.'))).toEqual([
    'shipments.g2',
    'shipments.g3',
    'shipments.g1',
  ]);
});

/**
 * MongoDB does not change the definition of an index. If this test fails after a change of an index, increase its
 * `version`, and add the new version to `index-versions.json`. Do not change or remove earlier versions, because
 * databases contain them.
 */
it('gives an index a new version when its definition changes', async () => {
  const record = await readRecord();
  const indexes: Record<string, Record<string, object>> = {};
  for (const { name: collection, indexes: specs } of await listCollections()) {
    for (const { name, version = 1, ...definition } of specs) {
      const ofCollection = (indexes[collection.replace(/\.g\d+$/, '.g*')] ??= {});
      ofCollection[version === 1 ? name : `${name}.v${version}`] = definition;
    }
  }
  expect(Object.keys(indexes).sort()).toEqual(Object.keys(record));
  for (const [collection, ofCollection] of Object.entries(indexes)) {
    const recorded = Object.keys(ofCollection).map((index) => [index, record[collection]?.[index]]);
    expect({ [collection]: ofCollection }).toEqual({ [collection]: Object.fromEntries(recorded) });
  }
});

it('never gives an index the definition that an index of another name has or had', async () => {
  for (const ofCollection of Object.values(await readRecord())) {
    const definitions = Object.values(ofCollection).map(({ fields, unique, only }) =>
      JSON.stringify([fields, unique, only]),
    );
    expect(new Set(definitions).size).toBe(definitions.length);
  }
});

/**
 * The services route by the shard keys of the specifications, so operators have to use the same keys. MongoDB enforces
 * no unique index of these collections except that of the id.
 */
it('documents the shard key of each sharded collection, none of which has a unique index', async () => {
  const settings = await readFile(new URL('../../../docs/reference/settings.md', import.meta.url), 'utf8');
  const rows = settings.split('\n').filter((line) => line.startsWith('|') && line.includes('"hashed"'));
  const documented = rows.flatMap((row) => {
    const [, names = '', key = ''] = row.split('|');
    return [...names.matchAll(/`([a-z_]+(?:\.g\*)?)`/g)].map(([, name]) => [name, key.trim()] as const);
  });
  const sharded = new Map<string, string>();
  for (const { name, indexes, shardKey } of [
    ...(await listCollections()),
    ATTEMPTS_COLLECTION_SPEC,
    PAYLOADS_COLLECTION_SPEC,
  ]) {
    if (shardKey === undefined) continue;
    const fields = [...shardKey.map((field) => `${field}: 1`), '_id: "hashed"'];
    sharded.set(name.replace(/\.g\d+$/, '.g*'), `\`{ ${fields.join(', ')} }\``);
    expect([name, indexes.filter(({ unique }) => unique)]).toEqual([name, []]);
  }
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(sharded));
});
