import { ENVIRONMENTS } from '@tracking/contracts';
import type { EventEnvelope, Page } from '@tracking/contracts';
import { queryOf } from './filters.ts';
import type { Invocation } from './invocation.ts';
import { noneIn } from './output.ts';
import type { Column } from './output.ts';

const about = (name: string) => (event: EventEnvelope) => {
  const value = (event.data as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : null;
};
const COLUMNS: readonly Column<EventEnvelope>[] = [
  ['ID', ({ id }) => id],
  ['TYPE', ({ type }) => type],
  ['CREATED', ({ created_at }) => created_at],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['SHIPMENT', about('shipment_id')],
  ['EXTERNAL ID', about('external_id')],
];

/** The oldest events that match, of one environment or both. */
export async function printEvents({ client, print, workspace, options }: Invocation): Promise<void> {
  const { environment, eventType, since, until } = options;
  const limit = Number(options['limit']);
  const found: Page<EventEnvelope>[] = [];
  for (const each of environment === undefined ? ENVIRONMENTS : [environment]) {
    const query = queryOf({ workspace, environment: each, type: eventType, since, until });
    found.push(await client.list<Page<EventEnvelope>>('/published_events', query, limit));
  }
  const all = found.flatMap(({ data }) => data).sort(oldestFirst);
  print.list(all.slice(0, limit), COLUMNS, noneIn([workspace]));
  if (all.length > limit || found.some(({ next_cursor }) => next_cursor !== null))
    print.hint('there are more, see --limit and --since');
}

/** Stable, so that events of one time stay in the order in which they were published. */
function oldestFirst(one: EventEnvelope, other: EventEnvelope): number {
  return one.created_at < other.created_at ? -1 : one.created_at > other.created_at ? 1 : 0;
}
