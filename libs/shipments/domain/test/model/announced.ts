import type { Container, ShipmentRecord } from '@tracking/contracts';
import { type Changes, type ShipmentEvent, type ShipmentState, findPublicEventOfStoredEvent } from '../../src/index.ts';

/** Client-visible fields that `changes` omits. */
const SHIPMENT_FIELDS_OMITTED_FROM_CHANGES = [
  'version',
  'updated_at',
  'last_milestone',
  'open_exceptions_count',
  'documents_count',
];

/** The stored events of one command, and the shipment before and after it. */
interface DecidedCommand {
  readonly before: ShipmentState | undefined;
  readonly after: ShipmentState;
  readonly events: readonly ShipmentEvent[];
}

/** Checks the announcements of a command. */
export function checkAnnouncedChanges({ before, after, events }: DecidedCommand): void {
  const announced = events
    .map((event) => findPublicEventOfStoredEvent(event)?.type)
    .filter((type) => type !== undefined);
  const ofShipment = announced.filter((type) => type === 'shipment.created' || type === 'shipment.updated');
  expect(ofShipment.length).toBeLessThanOrEqual(1);
  if (before === undefined) {
    expect(ofShipment).toEqual(['shipment.created']);
    return;
  }
  expectMilestonesAnnouncedOnce(before, after, announced);
  const changes = events.flatMap((event) => (event.type === 'shipment.changed.v1' ? [event.data.changes] : []))[0];
  const { milestone, ...visible } = changes ?? {};
  expect(applyAnnouncedChangesToShipment(visible, before.record)).toEqual(pickAnnouncedFields(after.record));
  for (const [field, change] of Object.entries(visible)) expect([field, change.to]).not.toEqual([field, change.from]);
  expect(milestone ?? null).toEqual(findMilestoneCorrectionBetweenStates(before, after));
  if (ofShipment.length > 0) expect(changes).toBeDefined();
  if (events.length === 0) expect(after).toBe(before);
}

/** Checks that each new actual milestone and each retraction is announced once. */
function expectMilestonesAnnouncedOnce(
  before: ShipmentState,
  after: ShipmentState,
  announced: readonly string[],
): void {
  const actualBefore = new Set(listActualMilestoneIds(before));
  const recorded = listActualMilestoneIds(after).filter((id) => !actualBefore.has(id));
  expect(announced.filter((type) => type === 'milestone.recorded')).toHaveLength(recorded.length);
  const retracted = after.timeline.filter(
    ({ milestone }) => milestone.retracted_at !== null && actualBefore.has(milestone.id),
  );
  expect(announced.filter((type) => type === 'milestone.retracted')).toHaveLength(retracted.length);
}

function listActualMilestoneIds({ timeline }: ShipmentState): readonly string[] {
  const actual = timeline.filter(
    ({ milestone }) => milestone.classifier === 'actual' && milestone.retracted_at === null,
  );
  return actual.map(({ milestone }) => milestone.id);
}

/**
 * Returns `changes.milestone` for the correction or retraction of an actual milestone; `to` is null for a retraction.
 */
function findMilestoneCorrectionBetweenStates(before: ShipmentState, after: ShipmentState) {
  const now = new Map(after.timeline.map(({ milestone }) => [milestone.id, milestone]));
  for (const { milestone: from } of before.timeline) {
    const to = now.get(from.id);
    if (to === undefined)
      throw new Error(`milestone ${from.id} was removed from the timeline; milestones must never be removed`);
    if (from.classifier !== 'actual' || from.retracted_at !== null) continue;
    if (to.retracted_at !== null) return { from, to: null };
    if (to.revision !== from.revision) return { from, to };
  }
  return null;
}

/** Applies every change by hand to the shipment before the command. */
function applyAnnouncedChangesToShipment(
  { containers, ...changes }: Omit<Changes, 'milestone'>,
  before: ShipmentRecord,
): unknown {
  const after: Record<string, unknown> = { ...before };
  for (const [field, { from, to }] of Object.entries(changes)) {
    expect(from).toEqual(after[field]);
    after[field] = to;
  }
  const kept = new Map<string, Partial<Container>>(before.containers.map((container) => [container.number, container]));
  for (const old of containers?.from ?? []) expect(kept.get(old.number)).toMatchObject(old);
  for (const moved of containers?.to ?? []) kept.set(moved.number, { ...kept.get(moved.number), ...moved });
  const numbers = after['container_numbers'] as readonly string[];
  return pickAnnouncedFields({
    ...after,
    containers: numbers.map((number) => kept.get(number)),
  } as unknown as ShipmentRecord);
}

/** Returns the fields that events announce. */
function pickAnnouncedFields(record: ShipmentRecord): unknown {
  const visible = Object.entries(record).filter(([field]) => !SHIPMENT_FIELDS_OMITTED_FROM_CHANGES.includes(field));
  return {
    ...Object.fromEntries(visible),
    containers: record.containers.map(({ last_milestone: _, ...container }) => container),
  };
}
