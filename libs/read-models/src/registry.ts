import { ActiveRows, type ActiveRowsParts } from './active-rows.ts';
import { DeadlineQueries } from './deadlines/deadline-queries.ts';
import { deadlinesModel } from './deadlines/deadline-rows.ts';
import { DocumentQueries } from './documents/document-queries.ts';
import { documentsModel } from './documents/document-rows.ts';
import { ExceptionQueries } from './exceptions/exception-queries.ts';
import { exceptionsModel } from './exceptions/exception-rows.ts';
import { MilestoneQueries } from './milestones/milestone-queries.ts';
import { milestonesModel } from './milestones/milestone-rows.ts';
import { EventQueries } from './published-events/event-queries.ts';
import { publishedEventsModel } from './published-events/published-event-rows.ts';
import type { ReadModel, ReadModelRow } from './read-model.ts';
import { ShipmentQueries } from './shipments/shipment-queries.ts';
import { shipmentsModel } from './shipments/shipment-rows.ts';

/** Every read model there is, with the queries that its rows answer. Everything that concerns all of them derives from it. */
const READ_MODELS = [
  readModel(shipmentsModel, ShipmentQueries),
  readModel(milestonesModel, MilestoneQueries),
  readModel(exceptionsModel, ExceptionQueries),
  readModel(documentsModel, DocumentQueries),
  readModel(publishedEventsModel, EventQueries),
  readModel(deadlinesModel, DeadlineQueries),
] as const;

type Registered = (typeof READ_MODELS)[number];
export type ReadModelName = Registered['name'];

/** The queries of each read model, by its name. */
export type ReadModelQueries = { readonly [R in Registered as R['name']]: ReturnType<R['open']>['queries'] };

export const READ_MODEL_NAMES: readonly ReadModelName[] = READ_MODELS.map(({ name }) => name);

export interface OpenReadModels {
  readonly rows: Readonly<Record<ReadModelName, ActiveRows<ReadModelRow>>>;
  readonly queries: ReadModelQueries;
}

export function openReadModels(parts: ActiveRowsParts): OpenReadModels {
  const opened = READ_MODELS.map(({ name, open }) => ({ name, ...open(parts) }));
  const byName = <T>(of: (each: (typeof opened)[number]) => T) =>
    Object.fromEntries(opened.map((each) => [each.name, of(each)]));
  return {
    rows: byName(({ rows }) => rows as ActiveRows<ReadModelRow>) as OpenReadModels['rows'],
    queries: byName(({ queries }) => queries) as unknown as ReadModelQueries,
  };
}

function readModel<R extends ReadModelRow, N extends string, Q>(
  model: ReadModel<R, N>,
  Queries: new (rows: ActiveRows<R>) => Q,
) {
  const open = (parts: ActiveRowsParts) => {
    const rows = new ActiveRows(model, parts);
    return { rows, queries: new Queries(rows) };
  };
  return { name: model.name, open };
}
