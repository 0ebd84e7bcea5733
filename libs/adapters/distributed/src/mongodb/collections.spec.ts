import { readFile } from 'node:fs/promises';
import { OBJECT_COLLECTIONS } from './gridfs-object-store.ts';
import { LEASE_MEMBERS_COLLECTION } from './lease-members.ts';
import { LEASES_COLLECTION } from './mongo-leases.ts';
import { QUOTA_COLLECTION } from './mongo-quota.ts';

it('the reference lists every collection that exists only in MongoDB, and what removes its documents', async () => {
  const page = await readFile(new URL('../../../../../docs/reference/running.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| `([^`]+)` \(d\)/gm)].map(([, name]) => name);
  const own = [LEASES_COLLECTION, LEASE_MEMBERS_COLLECTION, QUOTA_COLLECTION].map(({ name }) => name);
  // Only the services replace one release by another.
  expect(listed).toEqual([...own, ...Object.values(OBJECT_COLLECTIONS), 'releases'].sort());
});
