import type { JsonObject, Milestone, PlaceLookup, ShipmentException } from '@tracking/contracts';
import { DEFAULT_RULE_SETTINGS, DomainError, EMPTY_MILESTONE_DETAILS } from '@tracking/contracts';
import { decide, fold } from '@tracking/shipments-domain';
import type {
  CancelShipmentCommand,
  CorrectMilestoneCommand,
  RecordMilestoneCommand,
  ReopenCancelledShipmentCommand,
  RetractMilestoneCommand,
  ShipmentCommand,
  ShipmentEvent,
  ShipmentState,
  UpsertShipment,
} from '@tracking/shipments-domain';
import { choosePropertyTestRounds } from '@tracking/testing';
import { randomUUID } from 'node:crypto';
import { ACME_LIVE_SCOPE, createNthTestShipmentToken } from '../test/shipment-events.ts';
import { createSeededRandom } from '../test/faulty-store.ts';
import { ReadModelsTestBed, waitUntilCaughtUp, expectEqualToRebuild } from '../test/world.ts';

const anywhere: PlaceLookup = {
  find: () => undefined,
  isUnknownLocationCode: () => false,
  isWordOfPlaceName: () => false,
  lookUpPlaceCodesByName: () => undefined,
  listAliases: () => [],
};
const random = createSeededRandom(42);
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;

/** Client commands, decided and appended by the command handlers. */
class Handler {
  readonly states = new Map<number, ShipmentState>();

  constructor(private readonly world: ReadModelsTestBed) {}

  async handle(n: number, command: ShipmentCommand): Promise<void> {
    const before = this.states.get(n);
    let ids = 0;
    const newId = (kind: string) =>
      `${kind}_${createNthTestShipmentToken(n)}${command.id.replaceAll('-', '')}${(ids += 1)}`;
    const { events, nextCheckAt } = decide(command, before, {
      places: anywhere,
      settings: DEFAULT_RULE_SETTINGS,
      newId,
    });
    if (events.length === 0) return;
    const metadata = {
      command_id: command.id,
      recorded_at: command.at,
      actor: command.actor,
      request_id: command.request_id,
      traceparent: null,
      next_check_at: nextCheckAt,
    };
    const first = before?.record.version ?? 0;
    const stored = events.map((event, index) => ({
      ...event,
      metadata: { ...metadata, command_index: index },
      revision: first + index,
    }));
    await this.world.engine.eventStore.append(
      this.world.writer.getShipmentStreamName(n),
      first === 0 ? 'no_stream' : first - 1,
      stored.map(({ type, data, metadata: { actor, ...rest } }) => ({
        id: randomUUID(),
        type,
        data: data as unknown as JsonObject,
        metadata: { ...rest, actor: { ...actor } },
      })),
    );
    const state = fold(stored satisfies readonly ShipmentEvent[], before);
    if (state) this.states.set(n, state);
  }
}

const CONTAINERS = ['MSKU1234565', 'TEMU0000004', 'CSQU3054383'];
const LEGS = ['CNNGB', 'NLRTM'].map((port) => ({
  mode: null,
  carrier_scac: null,
  vessel: null,
  voyage: null,
  origin_port: port,
  destination_port: port,
  etd: null,
  eta: '2026-07-15T00:00:00.000Z',
}));
const CODES = [
  'booking_confirmed',
  'gated_in',
  'vessel_departed',
  'vessel_arrived',
  'discharged',
  'customs_hold',
  'delivered',
];

function command(minute: number) {
  return {
    id: randomUUID(),
    at: new Date(Date.parse('2026-06-01T00:00:00.000Z') + minute * 60_000).toISOString(),
    ...ACME_LIVE_SCOPE,
    actor: { type: 'service_account', id: 'sva_1' } as const,
    request_id: 'req_1',
    traceparent: null,
    strict: false,
  };
}

function upsert(n: number, minute: number): UpsertShipment {
  return {
    ...command(minute),
    type: 'UpsertShipment',
    shipment_id: `shp_${createNthTestShipmentToken(n)}`,
    fields: {
      external_id: `PO-${n}`,
      mode: 'ocean',
      destination_port: 'NLRTM',
      house_bill: one(['HB-1', 'HB-2', null]),
      container_numbers: CONTAINERS.slice(0, Math.floor(random() * 3) + 1),
      eta: one([null, `2026-07-0${Math.floor(random() * 9) + 1}T00:00:00.000Z`]),
      origin_port: one([null, 'CNSHA']),
      legs: one([[], LEGS]),
    },
  };
}

function cancelOrReopen(n: number, minute: number): CancelShipmentCommand | ReopenCancelledShipmentCommand {
  const type = one(['CancelShipment', 'ReopenShipment', 'ReopenShipment'] as const);
  return { ...command(minute), type, shipment_id: `shp_${createNthTestShipmentToken(n)}` };
}

function record(n: number, minute: number, state: ShipmentState): RecordMilestoneCommand {
  const containers = state.record.container_numbers;
  return {
    ...command(minute),
    type: 'RecordMilestone',
    shipment_id: `shp_${createNthTestShipmentToken(n)}`,
    milestone: {
      code: one(CODES),
      occurred_at: `2026-05-${10 + Math.floor(random() * 20)}T00:00:00.000Z`,
      source: one(['manual', 'carrier']),
      classifier: one(['actual', 'estimated', 'estimated', 'estimated', 'planned']),
      reason_code: null,
      location: one([null, 'NLRTM', 'CNSHA']),
      timezone: null,
      external_id: one([null, null, 'feed-1', 'feed-2']),
      container_number: one([null, ...containers]),
      vessel: null,
      voyage: null,
      note: null,
      ...EMPTY_MILESTONE_DETAILS,
      reported_at: minute % 3 === 0 ? `2026-05-0${1 + (minute % 7)}T00:00:00.000Z` : null,
    },
  };
}

/** Reference to any milestone of the shipment. Retracting or moving an estimate restores an earlier one. */
function correctOrRetract(
  n: number,
  minute: number,
  { timeline }: ShipmentState,
): CorrectMilestoneCommand | RetractMilestoneCommand {
  const milestone_id = timeline.length === 0 ? 'mst_none' : one(timeline).milestone.id;
  const about = { ...command(minute), shipment_id: `shp_${createNthTestShipmentToken(n)}`, milestone_id };
  if (random() < 0.5) return { ...about, type: 'RetractMilestone' };
  const location = one([null, 'NLRTM', 'CNSHA']);
  return {
    ...about,
    type: 'CorrectMilestone',
    patch: one([{ location }, { note: one(['x', 'y']) }, { code: one(CODES) }]),
  };
}

function byOpening(one: ShipmentException, other: ShipmentException): number {
  return one.opened_at + one.id < other.opened_at + other.id ? -1 : 1;
}

/** Some shipments cannot be cancelled or reopened, and some milestones cannot be corrected. */
function refused(error: unknown): void {
  if (!(error instanceof DomainError)) throw error;
}

describe('rows projected from client commands', () => {
  let world: ReadModelsTestBed;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
  });
  afterEach(() => world.close());

  it('equal the shipments, timelines and exceptions that the domain folds', async () => {
    const models = await world.startReadModels();
    const handler = new Handler(world);
    for (let minute = 0; minute < choosePropertyTestRounds(1_500); minute += 1) {
      const n = Math.floor(random() * choosePropertyTestRounds(10));
      const state = handler.states.get(n);
      const turn = random();
      if (state === undefined || turn < 0.15) await handler.handle(n, upsert(n, minute));
      else if (turn < 0.78) await handler.handle(n, record(n, minute, state));
      else if (turn < 0.88) await handler.handle(n, correctOrRetract(n, minute, state)).catch(refused);
      else await handler.handle(n, cancelOrReopen(n, minute)).catch(refused);
    }
    await waitUntilCaughtUp(models);
    const query = { include_superseded: true, include_retracted: true, limit: 1_000 } as const;
    for (const [n, { record: expected, timeline, exceptions }] of handler.states) {
      const shown = await models.queries.shipments.getShipment(ACME_LIVE_SCOPE, `shp_${createNthTestShipmentToken(n)}`);
      expect(shown?.record).toEqual(expected);
      const classifiers = ['actual', 'estimated', 'planned'] as const;
      const { items } = await models.queries.milestones.listMilestones(
        ACME_LIVE_SCOPE,
        `shp_${createNthTestShipmentToken(n)}`,
        {
          ...query,
          classifiers,
        },
      );
      expect(items).toEqual(timeline.map(({ milestone }): Milestone => milestone));
      const ofShipment = {
        filter: { shipment_id: `shp_${createNthTestShipmentToken(n)}` },
        sort: 'opened_at',
        limit: 500,
      } as const;
      const listed = await models.queries.exceptions.listExceptions(ACME_LIVE_SCOPE, ofShipment);
      expect(listed.items).toEqual([...exceptions].sort(byOpening));
    }
    const superseded = [...handler.states.values()]
      .flatMap(({ timeline }) => timeline)
      .filter(({ milestone }) => milestone.superseded_at);
    expect(superseded.length).toBeGreaterThan(choosePropertyTestRounds(10));
    const retracted = [...handler.states.values()]
      .flatMap(({ timeline }) => timeline)
      .filter(({ milestone }) => milestone.retracted_at);
    expect(retracted.length).toBeGreaterThan(choosePropertyTestRounds(10));
    const all = [...handler.states.values()].flatMap(({ exceptions }) => exceptions);
    expect(all.filter(({ status }) => status === 'resolved').length).toBeGreaterThan(choosePropertyTestRounds(10));
    expect(all.filter(({ status }) => status === 'open').length).toBeGreaterThan(0);
    expect(await models.listParkedShipments()).toEqual([]);
    await expectEqualToRebuild(models);
  });
});
