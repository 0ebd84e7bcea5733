import { readFileSync, readdirSync } from 'node:fs';
import type { DocumentRecord, JsonObject, Milestone, ShipmentException, ShipmentRecord } from '@tracking/contracts';
import { ReadModelsTestBed, waitUntilCaughtUp, expectEqualToRebuild } from '../test/world.ts';
import type { ReadModels } from './read-models.ts';

const GOLDEN = new URL('../../shipments/domain/src/golden/', import.meta.url);
const FOLDED = 'outcome.json';
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, GOLDEN), 'utf8'));

interface Stored {
  readonly revision: number;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}
/** The golden stream: every event version ever stored, in its stored form. */
const EVENTS = readdirSync(GOLDEN)
  .filter((name) => name !== FOLDED)
  .flatMap((name) => read(name) as Stored[])
  .sort((one, other) => one.revision - other.revision);
/** Expected rows of the golden stream. */
const { record, milestones, exceptions, documents } = read(FOLDED) as {
  readonly record: ShipmentRecord;
  readonly milestones: readonly Milestone[];
  readonly exceptions: readonly ShipmentException[];
  readonly documents: readonly { readonly document: DocumentRecord }[];
};
const ONE_BY_ONE = EVENTS.map((event) => [event]);
const idOf = (revision: number) => `00000000-0000-4000-8000-${String(revision).padStart(12, '0')}`;
const SCOPE = { workspace_id: 'wsp_1', environment: 'test' } as const;

describe('read models of every event version ever stored', () => {
  let world: ReadModelsTestBed;
  beforeEach(async () => void (world = await ReadModelsTestBed.open()));
  afterEach(() => world.close());

  async function append(events: readonly Stored[]): Promise<void> {
    const first = events[0]?.revision ?? 0;
    const stored = events.map(({ type, data, metadata, revision }) => ({ id: idOf(revision), type, data, metadata }));
    const stream = record.id.replace('shp_', 'shipment-');
    await world.engine.eventStore.append(stream, first === 0 ? 'no_stream' : first - 1, stored);
  }

  /** Projects the events, appending each group at once. */
  async function modelsOf(pieces: readonly (readonly Stored[])[]): Promise<ReadModels> {
    const models = await world.startReadModels();
    await models.ready;
    for (const piece of pieces) {
      await append(piece);
      await waitUntilCaughtUp(models);
    }
    expect(await models.listParkedShipments()).toEqual([]);
    return models;
  }

  it('contain the expected rows', async () => {
    const { queries } = await modelsOf(ONE_BY_ONE);
    expect((await queries.shipments.getShipment(SCOPE, record.id))?.record).toEqual(record);
    const whatever = { include_superseded: true, include_retracted: true, limit: 100 };
    const all = { classifiers: ['actual', 'estimated', 'planned'], ...whatever } as const;
    expect(new Set((await queries.milestones.listMilestones(SCOPE, record.id, all)).items)).toEqual(
      new Set(milestones),
    );
    const ofShipment = { filter: { shipment_id: record.id }, sort: '-opened_at', limit: 100 } as const;
    const { items } = await queries.exceptions.listExceptions(SCOPE, ofShipment);
    expect(new Set(items)).toEqual(new Set(exceptions));
    for (const { document } of documents) {
      expect((await queries.documents.getDocument(SCOPE, document.id))?.document).toEqual(document);
    }
  });

  it.each([
    ['one by one', ONE_BY_ONE],
    ['at once', [EVENTS]],
  ])('appended %s, they are byte-identical after a rebuild', async (_, pieces) => {
    await expectEqualToRebuild(await modelsOf(pieces));
  });
});
