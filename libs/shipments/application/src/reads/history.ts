import type { EtaChange, EtaSetBy, ShipmentException } from '@tracking/contracts';
import type { StoredEvent } from '@tracking/ports';
import {
  type ShipmentEvent,
  exceptionChange,
  isWholeException,
  publicEventId,
  tellOf,
  toShipmentEvent,
} from '@tracking/shipments-domain';
import type { UnnamedHistoryEntry } from './shipment-reads.ts';

/**
 * What an event tells of the shipment's history.
 * @param findException a resolved exception, which never changes again
 */
export async function historyEntry(
  stored: StoredEvent,
  findException: (id: string) => Promise<ShipmentException | undefined>,
): Promise<UnnamedHistoryEntry | undefined> {
  const event = toShipmentEvent(stored);
  const change = exceptionChange(event);
  const needed = change !== undefined && !isWholeException(change);
  const told = tellOf(event, needed ? await findException(change.id) : undefined);
  if (told === undefined) return undefined;
  const { recorded_at: at, actor } = event.metadata;
  const by = { type: actor.type, id: actor.id };
  return {
    id: publicEventId(stored.id),
    type: told.type,
    at,
    actor: by,
    changes: told.changes,
    version: event.revision + 1,
  };
}

/** What an event tells of the shipment's eta. */
export function etaChange(stored: StoredEvent, before: readonly StoredEvent[]): EtaChange | undefined {
  const event = toShipmentEvent(stored);
  const { recorded_at: reported_at } = event.metadata;
  if (event.type === 'shipment.created.v1') {
    const { eta } = event.data.shipment;
    return eta === null ? undefined : { eta, previous_eta: null, slip_hours: null, reported_at, ...BY_CLIENT };
  }
  if (event.type !== 'shipment.changed.v1' || event.data.changes.eta === undefined) return undefined;
  const { from: previous_eta, to: eta } = event.data.changes.eta;
  const setBy = event.data.eta_set_by ?? byMilestoneOf(event, before.map(toShipmentEvent), eta);
  const { source, milestone_id, reason_code } = setBy;
  return { eta, previous_eta, slip_hours: slip(previous_eta, eta), reported_at, source, milestone_id, reason_code };
}

const BY_CLIENT: EtaSetBy = { source: 'client', milestone_id: null, reason_code: null };
const HOUR_MS = 3_600_000;

function slip(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  return Math.round(((Date.parse(to) - Date.parse(from)) / HOUR_MS) * 100) / 100;
}

/** Of an event stored before it was remembered what set the eta: the estimate of its command, if it says so. */
function byMilestoneOf(event: ShipmentEvent, before: readonly ShipmentEvent[], eta: string | null): EtaSetBy {
  for (const { type, data, metadata } of before) {
    if (metadata.command_id !== event.metadata.command_id) continue;
    if (type !== 'milestone.recorded.v1' && type !== 'milestone.corrected.v1') continue;
    const { id, source, reason_code, occurred_at, classifier } = data.milestone;
    if (classifier === 'estimated' && occurred_at === eta) return { source, milestone_id: id, reason_code };
  }
  return BY_CLIENT;
}
