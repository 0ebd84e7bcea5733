import type { Collection } from '@tracking/ports';
import type { SampleDocument } from './document-store-samples.ts';

/** Tests replacements of many documents. @param current the collection of the current test, initially empty */
export function declareDocumentReplacementTests(current: () => Collection<SampleDocument>): void {
  describe('many replacements', () => {
    it('the store replaces many documents, and reports for each whether it was replaced', async () => {
      const things = current();
      const replaceAll = (ids: readonly string[], version: number) =>
        things.replaceMany(ids.map((id) => ({ document: { id, version }, guard: { version: { lte: version } } })));
      for (const id of ['a', 'b', 'c']) await things.insert({ id, version: 1 });
      expect(await things.replaceMany([])).toEqual([]);
      expect(await replaceAll(['a', 'b', 'c'], 2)).toEqual([true, true, true]);
      await things.replace({ id: 'b', version: 9 });
      expect(await replaceAll(['a', 'b', 'c', 'd'], 3)).toEqual([true, false, true, false]);
      expect(await replaceAll(['a', 'c'], 3)).toEqual([true, true]);
      const all = await things.find({ filter: {}, sort: { fields: ['id'] }, limit: 10 });
      expect(all.map(({ version }) => version)).toEqual([3, 9, 3]);
    });

    it('a unique index refuses one of many replacements', async () => {
      const things = current();
      await things.insert({ id: 'a', owner: 'o', code: 'c' });
      for (const id of ['b', 'd']) await things.insert({ id, version: 1 });
      const guard = { version: { lte: 2 } };
      const taken = { document: { id: 'b', version: 2, owner: 'o', code: 'c' }, guard };
      const free = { document: { id: 'd', version: 2 }, guard };
      await expect(things.replaceMany([taken, free])).rejects.toMatchObject({ name: 'DuplicateKey', index: 'by_code' });
      expect([(await things.get('b'))?.version, (await things.get('d'))?.version]).toEqual([1, 2]);
    });
  });
}
