import { isInScope, isPresent, type Timestamp } from '@tracking/contracts';
import type { EventStore } from '@tracking/ports';
import {
  type DecideContext,
  type DocumentInHand,
  type ShipmentState,
  expiresAt,
  explain,
  findMilestone,
  parseShipmentId,
  shipmentIdOfPart,
  streamOf,
} from '@tracking/shipments-domain';
import type { RuleSettingsReader } from '../rule-settings.ts';
import type { ShipmentCache } from '../shipment-cache.ts';
import { type LoadedShipment, readShipment } from '../shipment-stream.ts';
import { PastShipments, isOfScope, milestonePage } from './as-of.ts';
import { etaChange, historyEntry } from './history.ts';
import type { GetShipment, GetShipmentAt, ReadHistory, ReadPage, ShipmentReads } from './shipment-reads.ts';
import { type TellOf, pageBackwards } from './stream-backwards.ts';

export interface ShipmentReadsOptions {
  readonly eventStore: EventStore;
  readonly cache: ShipmentCache;
  readonly places: DecideContext['places'];
  readonly settings: RuleSettingsReader;
}

/** Of a document that is whole its bytes, of one that still waits for them those that came; of others none is needed. */
function objectsOf({ document, object_id, received }: DocumentInHand, now: Timestamp): readonly string[] {
  const until = expiresAt(document);
  if (until !== undefined) return received === null || until <= now ? [] : [received.id];
  return isPresent(document) && object_id !== null ? [object_id] : [];
}

export function shipmentReads({ eventStore, cache, places, settings }: ShipmentReadsOptions): ShipmentReads {
  const current = async ({ shipment_id, ...scope }: GetShipment): Promise<LoadedShipment | undefined> => {
    const shipmentId = parseShipmentId(shipment_id);
    if (shipmentId === undefined) return undefined;
    const found = await readShipment(eventStore, streamOf(shipmentId), cache.get(shipmentId));
    if (found === undefined || !isInScope(found.state, scope)) return undefined;
    cache.put(shipmentId, found);
    return found;
  };

  const past = new PastShipments(eventStore);
  const stateAt = async ({ shipment_id, as_of, ...scope }: GetShipmentAt): Promise<ShipmentState | undefined> => {
    const shipmentId = parseShipmentId(shipment_id);
    return shipmentId === undefined ? undefined : past.at(streamOf(shipmentId), scope, as_of);
  };

  const backwards = async <T>(request: ReadHistory, tell: TellOf<T>): Promise<ReadPage<T> | undefined> => {
    const shipmentId = parseShipmentId(request.shipment_id);
    if (shipmentId === undefined) return undefined;
    const stream = streamOf(shipmentId);
    const [first] = await eventStore.read(stream, { from: 0, to: 0 });
    return isOfScope(first, request) ? pageBackwards(eventStore, stream, request, tell) : undefined;
  };

  return {
    async getShipment(request) {
      const found = await current(request);
      return found && { record: found.state.record, position: found.position };
    },

    async getShipmentAt(request) {
      return (await stateAt(request))?.record;
    },

    async getMilestone({ milestone_id, ...request }) {
      const found = await current(request);
      const milestone = found && findMilestone(found.state, milestone_id);
      return milestone && { milestone, shipment_version: found.state.record.version };
    },

    async listMilestonesAt(request) {
      const state = await stateAt(request);
      return state && milestonePage(state, request);
    },

    listHistory(request) {
      let loaded: ReturnType<typeof current> | undefined;
      const findException = async (id: string) => {
        const { state } = (await (loaded ??= current(request))) ?? {};
        return state?.exceptions.find((exception) => exception.id === id);
      };
      return backwards(request, (event) => historyEntry(event, findException));
    },
    listEtaHistory: (request) => backwards(request, etaChange),

    async explainShipment(request) {
      const found = await current(request);
      if (found === undefined) return undefined;
      return explain(found.state, { places, settings: await settings.of(found.state.workspace_id) });
    },

    async getException({ exception_id, ...scope }) {
      const shipment_id = shipmentIdOfPart('exception', exception_id);
      const found = shipment_id && (await current({ ...scope, shipment_id }));
      if (!found) return undefined;
      const { exceptions, record } = found.state;
      const exception = exceptions.find(({ id }) => id === exception_id);
      return exception && { exception, shipment_version: record.version };
    },

    async getDocument({ document_id, ...scope }) {
      const shipment_id = shipmentIdOfPart('document', document_id);
      const found = shipment_id && (await current({ ...scope, shipment_id }));
      if (!found) return undefined;
      const { documents, record } = found.state;
      const stored = documents.find(({ document }) => document.id === document_id);
      if (stored === undefined) return undefined;
      const { document, object_id, received } = stored;
      return { document, object_id, received_object_id: received?.id ?? null, shipment_version: record.version };
    },

    async documentObjects({ shipment_id, now }) {
      const shipmentId = parseShipmentId(shipment_id);
      const found = shipmentId && (await readShipment(eventStore, streamOf(shipmentId), cache.get(shipmentId)));
      return found ? found.state.documents.flatMap((each) => objectsOf(each, now)) : [];
    },
  };
}
