import { ENVIRONMENTS } from '@tracking/contracts';
import type { EventEnvelope } from '@tracking/contracts';
import type { AdministrationClient } from './administration-client.ts';
import { queryOf } from './filters.ts';
import type { Invocation } from './invocation.ts';
import { noneIn } from './output.ts';
import type { Column } from './output.ts';

/** Most that the service answers with at once. */
const PAGE = 200;

interface Found {
  readonly data: readonly EventEnvelope[];
  readonly isMore: boolean;
}

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
  const found: Found[] = [];
  for (const each of environment === undefined ? ENVIRONMENTS : [environment]) {
    const query = queryOf({ workspace, environment: each, type: eventType, since, until });
    found.push(await findEvents(client, query, limit));
  }
  const all = found.flatMap(({ data }) => data).sort(oldestFirst);
  print.list(all.slice(0, limit), COLUMNS, noneIn([workspace]));
  if (all.length > limit || found.some(({ isMore }) => isMore)) print.hint('there are more, see --limit and --since');
}

async function findEvents(
  client: AdministrationClient,
  query: Readonly<Record<string, string>>,
  most: number,
): Promise<Found> {
  const data: EventEnvelope[] = [];
  for (let cursor: string | null = null; ;) {
    const page: { readonly data: readonly EventEnvelope[]; readonly next_cursor: string | null } = await client.get(
      '/published_events',
      { ...query, limit: String(Math.min(most - data.length, PAGE)), ...(cursor !== null && { cursor }) },
    );
    data.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === null || data.length >= most) return { data, isMore: cursor !== null };
  }
}

/** Stable, so that events of one time stay in the order in which they were published. */
function oldestFirst(one: EventEnvelope, other: EventEnvelope): number {
  return one.created_at < other.created_at ? -1 : one.created_at > other.created_at ? 1 : 0;
}
