import { readFile } from 'node:fs/promises';
import { OBJECT_STORE_COLLECTION_NAMES } from './gridfs-object-store.ts';
import { LEASE_MEMBERS_COLLECTION_SPEC } from './lease-members.ts';
import { LEASES_COLLECTION_SPEC } from './mongo-leases.ts';
import { QUOTA_COLLECTION_SPEC } from './mongo-quota.ts';

it('the reference lists every collection that exists only in MongoDB, and what removes its documents', async () => {
  const page = await readFile(new URL('../../../../../docs/reference/running.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| `([^`]+)` \(d\)/gm)].map(([, name]) => name);
  const own = [LEASES_COLLECTION_SPEC, LEASE_MEMBERS_COLLECTION_SPEC, QUOTA_COLLECTION_SPEC].map(({ name }) => name);
  // Only the services replace one release by another.
  expect(listed).toEqual([...own, ...Object.values(OBJECT_STORE_COLLECTION_NAMES), 'releases'].sort());
});
