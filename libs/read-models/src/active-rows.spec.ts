import { ActiveGenerationSelector } from './active-rows.ts';
import type { GenerationsDocument } from './generations.ts';
import type { ReadModel, ReadModelRow } from './read-model.ts';

const VERSION = 2;
const MODEL: ReadModel<ReadModelRow> = {
  name: 'made',
  version: VERSION,
  indexes: [],
  scoped: false,
  listRowIdsToRead: () => [],
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
});
