import { DEFAULT_RULE_SETTINGS } from '@tracking/contracts';
import { decide, fold } from '@tracking/shipments-domain';
import { RecordedMetrics } from '@tracking/testing';
import { createMilestones, EMPTY_PLACE_LOOKUP, createUpsertCommand } from '../test/builders.ts';
import { createDecideContext } from './decide-batch.ts';
import { createShipmentId } from './ids.ts';
import {
  addMetadataToShipmentEvents,
  countCharactersKeptByEvent,
  type LoadedShipment,
  estimateShipmentHeapBytes,
  ShipmentCache,
} from './shipment-cache.ts';

/** A shipment with this many milestones with this note. */
function shipment(count = 0, note = ''): LoadedShipment {
  const create = createUpsertCommand({ external_id: 'PO-1' });
  const shipment_id = createShipmentId(create, 'PO-1', create.id);
  const commands = [
    { ...create, shipment_id },
    ...createMilestones(shipment_id, count).map((each) => ({ ...each, milestone: { ...each.milestone, note } })),
  ];
  let state: LoadedShipment['state'] | undefined;
  let revision = -1;
  let characters = 0;
  for (const command of commands) {
    const events = addMetadataToShipmentEvents(
      command,
      decide(
        command,
        state,
        createDecideContext(command, { places: EMPTY_PLACE_LOOKUP, settings: DEFAULT_RULE_SETTINGS }),
      ).events,
      null,
      revision + 1,
    );
    state = fold(events, state);
    revision += events.length;
    for (const event of events) characters += countCharactersKeptByEvent(event);
  }
  if (state === undefined) throw new Error('no shipment');
  return { state, revision, position: String(revision), characters };
}

const small = shipment();
const newCache = (shipments: number, bytes = Number.MAX_SAFE_INTEGER) => {
  const metrics = new RecordedMetrics();
  return { metrics, cache: new ShipmentCache({ shipments, bytes }, metrics.createCounter('reads')) };
};

describe('ShipmentCache', () => {
  it('keeps the shipments used last, up to their maximum number', () => {
    const { cache } = newCache(10);
    for (let n = 0; n < 100; n++) {
      cache.cacheShipment(String(n), small);
      expect(cache.getShipment('0')).toBe(small);
      expect(cache.size).toBeLessThanOrEqual(10);
    }
    for (let n = 97; n < 100; n++) expect(cache.getShipment(String(n))).toBe(small);
    expect(cache.getShipment('50')).toBeUndefined();
  });

  it('holds fewer large shipments', () => {
    const large = shipment(20, 'x'.repeat(900));
    expect(estimateShipmentHeapBytes(large)).toBeGreaterThan(estimateShipmentHeapBytes(small) + 20 * 900);
    const { cache } = newCache(1_000, 10 * estimateShipmentHeapBytes(large));
    for (let n = 0; n < 50; n++) cache.cacheShipment(String(n), large);
    expect(cache.size).toBeGreaterThanOrEqual(4);
    expect(cache.size).toBeLessThanOrEqual(12);
  });

  it('counts the commands that a shipment remembers', () => {
    const commands = Array.from({ length: 10_000 }, (_, revision) => ({ id: 'a', revision }));
    const busy = { ...small, state: { ...small.state, commands } };
    expect(estimateShipmentHeapBytes(busy)).toBeGreaterThan(estimateShipmentHeapBytes(small) + 1_000_000);
  });

  it('counts an estimate that is dropped with the times of its report only', () => {
    const milestone = { id: 'mst_1', note: 'x'.repeat(500) };
    const recorded = { type: 'milestone.recorded.v1', data: { milestone, supersedes: [], last: {} } };
    const dropping = (...drops: readonly string[]) => ({ ...recorded, data: { ...recorded.data, drops } });
    const characters = countCharactersKeptByEvent(recorded);
    expect(characters).toBeGreaterThan(500);
    expect(countCharactersKeptByEvent(dropping('mst_0'))).toBe(24);
    const ids = Array.from({ length: 100 }, (_, index) => `mst_${String(index).padStart(26, '0')}`);
    expect(countCharactersKeptByEvent(dropping(...ids))).toBe(characters - 100 * (characters - 24));
  });

  it('never returns to an older state', () => {
    const { cache } = newCache(10);
    const newer = shipment(1);
    cache.cacheShipment('a', newer);
    cache.cacheShipment('a', small);
    expect(cache.getShipment('a')).toBe(newer);
  });

  it('removes dropped shipments', () => {
    const { cache } = newCache(10);
    for (let n = 0; n < 8; n++) cache.cacheShipment(String(n), small);
    for (let n = 0; n < 8; n++) {
      cache.dropCachedShipment(String(n));
      expect(cache.getShipment(String(n))).toBeUndefined();
    }
    expect(cache.size).toBe(0);
  });

  it('counts hits and misses', () => {
    const { cache, metrics } = newCache(10);
    cache.cacheShipment('a', small);
    cache.getShipment('a');
    cache.getShipment('b');
    expect([metrics.getMetricValue('reads{result="hit"}'), metrics.getMetricValue('reads{result="miss"}')]).toEqual([
      1, 1,
    ]);
  });
});
