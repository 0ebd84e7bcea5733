import type { Collection } from '@tracking/ports';
import { ids, type Thing } from './document-store-samples.ts';

/** @param things the collection of the test that runs, empty at its beginning */
export function documentStoreClaimTests(things: () => Collection<Thing>): void {
  describe('claim', () => {
    it('sets fields on the first that matches, and answers it', async () => {
      for (const version of [3, 1, 2]) await things().insert({ id: `v${version}`, owner: 'o', version, open: true });
      const query = { filter: { open: true, owner: 'o' }, sort: { fields: ['version'] } };
      expect(await things().claim(query, { open: false, note: 'mine' })).toEqual({
        id: 'v1',
        owner: 'o',
        version: 1,
        open: false,
        note: 'mine',
      });
      expect(await things().get('v1')).toMatchObject({ open: false, note: 'mine' });
      const last = await things().claim({ ...query, sort: { fields: ['version'], descending: true } }, { open: false });
      expect(last?.id).toBe('v3');
      expect(await things().claim({ filter: { owner: 'nobody' } }, { open: false })).toBeUndefined();
    });

    it('gives each document to exactly one of 50 concurrent claimants', async () => {
      for (let index = 0; index < 20; index += 1) await things().insert({ id: String(index), rank: 'free' });
      const claims = await Promise.all(
        Array.from({ length: 50 }, (_, index) => things().claim({ filter: { rank: 'free' } }, { rank: `by ${index}` })),
      );
      const claimed = claims.filter((thing) => thing !== undefined);
      expect(new Set(ids(claimed)).size).toBe(20);
      expect(claimed).toHaveLength(20);
      for (const [index, thing] of claims.entries()) {
        if (thing !== undefined) expect((await things().get(thing.id))?.rank).toBe(`by ${index}`);
      }
    });
  });
}
