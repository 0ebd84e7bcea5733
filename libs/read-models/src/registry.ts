import type { EventType } from '@tracking/contracts';
import type { CollectionSpec, DocumentStore } from '@tracking/ports';
import {
  CHECKPOINTS_COLLECTION_SPEC,
  PARKED_STREAMS_COLLECTION_SPEC,
  PARTITION_LAYOUTS_COLLECTION_SPEC,
} from '@tracking/subscriptions';
import { ActiveGenerationSelector, type ActiveReadModelRowsOptions } from './active-rows.ts';
import { DueRuleCheckQueries, deadlinesReadModel } from './deadlines.ts';
import { DocumentQueries, documentsReadModel } from './documents.ts';
import { ExceptionQueries, exceptionsReadModel } from './exceptions.ts';
import { listRowCollections } from './generations.ts';
import { MilestoneQueries, milestonesReadModel } from './milestones.ts';
import { EventQueries } from './published-events/event-queries.ts';
import { publishedEventsReadModel } from './published-events/published-event-rows.ts';
import type { ReadModel, ReadModelRow } from './read-model.ts';
import { ShipmentQueries } from './shipments/shipment-queries.ts';
import { shipmentsReadModel } from './shipments/shipment-rows.ts';

/** All read models with their queries. Code that handles every read model uses this list. */
const READ_MODELS = [
  createReadModelRegistration(shipmentsReadModel, ShipmentQueries),
  createReadModelRegistration(milestonesReadModel, MilestoneQueries),
  createReadModelRegistration(exceptionsReadModel, ExceptionQueries),
  createReadModelRegistration(documentsReadModel, DocumentQueries),
  createReadModelRegistration(publishedEventsReadModel, EventQueries),
  createReadModelRegistration(deadlinesReadModel, DueRuleCheckQueries),
] as const;

type RegisteredReadModel = (typeof READ_MODELS)[number];
export type ReadModelName = RegisteredReadModel['name'];

/** Queries of each read model, by its name. */
export type ReadModelQueries = { readonly [R in RegisteredReadModel as R['name']]: ReturnType<R['open']>['queries'] };

export const READ_MODEL_NAMES: readonly ReadModelName[] = READ_MODELS.map(({ name }) => name);

/** Returns the name if this version has such a read model. */
export function findKnownReadModelName(name: string): ReadModelName | undefined {
  return READ_MODEL_NAMES.find((known) => known === name);
}

/** Read models of all events: shipments are in every event, and clients list the events themselves. */
const READ_MODELS_OF_ALL_EVENTS = ['shipments', 'published_events'] as const;
/** Read model of the resource in an event, by the first word of the type of the event. */
const READ_MODEL_BY_RESOURCE: Readonly<Record<string, ReadModelName>> = {
  milestone: 'milestones',
  exception: 'exceptions',
  document: 'documents',
};

/** Returns the read models from which clients read the data of these types of events. */
export function listReadModelsOfEvents(types: Iterable<EventType>): readonly ReadModelName[] {
  const ofResources = [...types].flatMap((type) => READ_MODEL_BY_RESOURCE[type.split('.', 1)[0] ?? ''] ?? []);
  return [...new Set([...READ_MODELS_OF_ALL_EVENTS, ...ofResources])];
}

/**
 * Returns the indexed collections of read models: the progress of all subscriptions, and the rows of all generations
 * in use. @throws UnavailableError
 */
export async function listReadModelCollections(store: DocumentStore): Promise<readonly CollectionSpec[]> {
  const models = READ_MODELS.map(({ model }) => model);
  return [
    CHECKPOINTS_COLLECTION_SPEC,
    PARKED_STREAMS_COLLECTION_SPEC,
    PARTITION_LAYOUTS_COLLECTION_SPEC,
    ...(await listRowCollections(store, models)),
  ];
}

export interface OpenReadModels {
  readonly rows: Readonly<Record<ReadModelName, ActiveGenerationSelector<ReadModelRow>>>;
  readonly queries: ReadModelQueries;
}

export function openReadModels(parts: ActiveReadModelRowsOptions): OpenReadModels {
  const opened = READ_MODELS.map(({ name, open }) => ({ name, ...open(parts) }));
  const byName = <T>(of: (each: (typeof opened)[number]) => T) =>
    Object.fromEntries(opened.map((each) => [each.name, of(each)]));
  return {
    rows: byName(({ rows }) => rows as ActiveGenerationSelector<ReadModelRow>) as OpenReadModels['rows'],
    queries: byName(({ queries }) => queries) as unknown as ReadModelQueries,
  };
}

function createReadModelRegistration<R extends ReadModelRow, N extends string, Q>(
  model: ReadModel<R, N>,
  Queries: new (rows: ActiveGenerationSelector<R>) => Q,
) {
  const open = (parts: ActiveReadModelRowsOptions) => {
    const rows = new ActiveGenerationSelector(model, parts);
    return { rows, queries: new Queries(rows) };
  };
  return { name: model.name, model: model as unknown as ReadModel, open };
}
