import { ActiveRows, type ActiveRowsOptions } from './active-rows.ts';
import { DeadlineQueries, deadlinesModel } from './deadlines.ts';
import { DocumentQueries, documentsModel } from './documents.ts';
import { ExceptionQueries, exceptionsModel } from './exceptions.ts';
import { MilestoneQueries, milestonesModel } from './milestones.ts';
import { EventQueries } from './published-events/event-queries.ts';
import { publishedEventsModel } from './published-events/published-event-rows.ts';
import type { ReadModel, ReadModelRow } from './read-model.ts';
import { ShipmentQueries } from './shipments/shipment-queries.ts';
import { shipmentsModel } from './shipments/shipment-rows.ts';

/** All read models with their queries. Code that handles every read model uses this list. */
const READ_MODELS = [
  registerReadModel(shipmentsModel, ShipmentQueries),
  registerReadModel(milestonesModel, MilestoneQueries),
  registerReadModel(exceptionsModel, ExceptionQueries),
  registerReadModel(documentsModel, DocumentQueries),
  registerReadModel(publishedEventsModel, EventQueries),
  registerReadModel(deadlinesModel, DeadlineQueries),
] as const;

type RegisteredReadModel = (typeof READ_MODELS)[number];
export type ReadModelName = RegisteredReadModel['name'];

/** Queries of each read model, by its name. */
export type ReadModelQueries = { readonly [R in RegisteredReadModel as R['name']]: ReturnType<R['open']>['queries'] };

export const READ_MODEL_NAMES: readonly ReadModelName[] = READ_MODELS.map(({ name }) => name);

export interface OpenReadModels {
  readonly rows: Readonly<Record<ReadModelName, ActiveRows<ReadModelRow>>>;
  readonly queries: ReadModelQueries;
}

export function openReadModels(parts: ActiveRowsOptions): OpenReadModels {
  const opened = READ_MODELS.map(({ name, open }) => ({ name, ...open(parts) }));
  const byName = <T>(of: (each: (typeof opened)[number]) => T) =>
    Object.fromEntries(opened.map((each) => [each.name, of(each)]));
  return {
    rows: byName(({ rows }) => rows as ActiveRows<ReadModelRow>) as OpenReadModels['rows'],
    queries: byName(({ queries }) => queries) as unknown as ReadModelQueries,
  };
}

function registerReadModel<R extends ReadModelRow, N extends string, Q>(
  model: ReadModel<R, N>,
  Queries: new (rows: ActiveRows<R>) => Q,
) {
  const open = (parts: ActiveRowsOptions) => {
    const rows = new ActiveRows(model, parts);
    return { rows, queries: new Queries(rows) };
  };
  return { name: model.name, open };
}
