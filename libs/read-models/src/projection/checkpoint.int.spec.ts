import type { Collection } from '@tracking/ports';
import { dyingAt, troubled } from '../../test/troubled-store.ts';
import { World, until } from '../../test/world.ts';
import { CHECKPOINTS, Checkpoint, Superseded } from './checkpoint.ts';
import type { CheckpointDocument } from './checkpoint.ts';

const OF = { read_model: 'shipments', generation: 1, partition: 'shipment-' };

describe('a checkpoint', () => {
  let world: World;
  let documents: Collection<CheckpointDocument>;
  let ending: AbortController;
  beforeEach(async () => {
    world = await World.open();
    documents = await world.engine.documentStore.collection(CHECKPOINTS);
    ending = new AbortController();
  });
  afterEach(() => world.close());

  const claim = (epoch: number, from = documents) =>
    Checkpoint.claim(from, { ...OF, epoch }, ending.signal, () => undefined);

  it('begins before the first event and holds the last move', async () => {
    const checkpoint = await claim(1);
    expect([checkpoint.position, checkpoint.complete]).toEqual([undefined, false]);
    void checkpoint.move('0001', false);
    void checkpoint.move('0002', true);
    void checkpoint.move('0003', true);
    expect(checkpoint.position).toBe('0003');
    await checkpoint.flush();
    const next = await claim(2);
    expect([next.position, next.complete]).toEqual(['0003', true]);
  });

  it('is taken over by a newer holder; the older one is told and moves it no more', async () => {
    const older = await claim(1);
    await older.move('0005', false);
    const newer = await claim(2);
    await newer.move('0006', false);
    expect(older.superseded.aborted).toBe(false);
    await older.move('0009', true);
    expect(older.superseded.aborted).toBe(true);
    expect(await documents.find({ filter: {}, limit: 9 })).toMatchObject([
      { position: '0006', epoch: 2, complete: false },
    ]);
    await newer.move('0007', false);
    expect(newer.superseded.aborted).toBe(false);
  });

  it('is not given to a holder that is not the newest', async () => {
    await claim(2);
    await expect(claim(1)).rejects.toThrow(Superseded);
    await expect(claim(2)).resolves.toBeDefined();
  });

  it('is lost when its generation was dropped', async () => {
    const checkpoint = await claim(1);
    await documents.delete('shipments/1/shipment-');
    await checkpoint.move('0001', false);
    expect(checkpoint.superseded.aborted).toBe(true);
    expect(await documents.count({})).toBe(0);
  });

  it('waits for the engine, until the work ends', async () => {
    let isAway = false;
    const store = troubled(world.engine.documentStore, () => (isAway ? 'fails' : 'works'));
    const checkpoint = await claim(1, await store.collection(CHECKPOINTS));
    isAway = true;
    void checkpoint.move('0001', false);
    isAway = false;
    await checkpoint.flush();
    expect((await documents.get('shipments/1/shipment-'))?.position).toBe('0001');

    const gone = troubled(world.engine.documentStore, dyingAt(2).trouble);
    const other = await claim(2, await gone.collection(CHECKPOINTS));
    void other.move('0002', false);
    ending.abort();
    await other.flush();
    expect(other.superseded.aborted).toBe(false);
    await until(async () => (await documents.get('shipments/1/shipment-'))?.position === '0001');
  });
});
