import { setImmediate } from 'node:timers/promises';
import type { CollectionSpec } from '@tracking/ports';
import { ActiveGenerationSelector } from './active-rows.ts';
import type { GenerationsDocument } from './generations.ts';
import type { ReadModel, ReadModelRow } from './read-model.ts';

const VERSION = 2;
const MODEL: ReadModel<ReadModelRow> = {
  name: 'made',
  version: VERSION,
  indexes: [],
  scoped: false,
  listRowIdsNeededToProjectEvent: () => [],
  applyEventToRows: () => [],
};

describe('active rows', () => {
  it('have the version that built them, although queries switch to a rebuilt generation while they are opened', async () => {
    let pointer = {
      active: 1,
      retiring: null,
      model_version: VERSION,
      made_by: { 1: 1 },
    } as unknown as GenerationsDocument;
    const opening: ((rows: unknown) => void)[] = [];
    const active = new ActiveGenerationSelector(MODEL, {
      collections: { open: () => new Promise((resolve) => opening.push(resolve)) } as never,
      generations: { readGenerationsDocument: () => Promise.resolve(pointer) } as never,
      checkpoints: { readCheckpointsOfReadModel: () => Promise.resolve([]) } as never,
      maxWaiters: 1,
      graceMs: 60_000,
    });
    const before = active.openRowsOfQueriedGeneration();
    while (opening.length === 0) await Promise.resolve();
    pointer = { ...pointer, active: 2, retiring: 1 };
    await active.refreshGenerationPointer();
    expect(active.progress.generation).toBe(2);
    opening[0]?.('rows of version 1');
    expect(await before).toEqual({ rows: 'rows of version 1', version: 1 });
    const after = active.openRowsOfQueriedGeneration();
    while (opening.length === 1) await Promise.resolve();
    opening[1]?.('rows of version 2');
    expect(await after).toEqual({ rows: 'rows of version 2', version: 2 });
  });

  it('have the version of the last stored pointer, even if an earlier read of the pointer ends later', async () => {
    let stored = { active: 1, retiring: null, building: null, model_version: 1 } as GenerationsDocument;
    const isRead = Promise.withResolvers<void>();
    const readGenerationsDocument = async () => {
      const pointer = stored;
      if (pointer.building === null) await isRead.promise;
      return pointer;
    };
    const active = new ActiveGenerationSelector<ReadModelRow>(
      { ...MODEL, formerIndexes: { 1: [{ name: 'former', fields: ['id'] }] } },
      {
        collections: { open: ({ indexes }: CollectionSpec) => Promise.resolve(indexes) } as never,
        generations: { readGenerationsDocument } as never,
        checkpoints: { readCheckpointsOfReadModel: () => Promise.resolve([]) } as never,
        maxWaiters: 1,
        graceMs: 60_000,
      },
    );
    const earlier = active.refreshGenerationPointer();
    stored = { ...stored, building: 2, model_version: VERSION, made_by: { 1: 1 } };
    expect(await Promise.race([active.refreshGenerationPointer(), setImmediate('shared with the earlier read')])).toBe(
      stored,
    );
    isRead.resolve();
    await earlier;
    expect(await active.openRowCollectionOfGeneration(2)).toEqual([]);
  });
});
