import type { Query, QueryClient } from '@tanstack/react-query';
import type { Environment } from '../session/api.ts';

/** What no event makes old. */
const UNTOLD: ReadonlySet<unknown> = new Set([
  ...['session', 'shipment-news', 'place', 'places', 'milestone-codes', 'document-content'],
]);

/**
 * What was read before anything was told, or is being read just then, may be older than what is told: it is read once more, lists
 * too, as nobody has been at their rows for long.
 */
export function readOnceMore(queries: QueryClient, environment: Environment): void {
  const read = queries.getQueryCache().findAll({
    predicate: ({ queryKey: [kind, of] }) => of === environment && !UNTOLD.has(kind),
  });
  for (const query of read) void readAgain(queries, query);
}

async function readAgain(queries: QueryClient, query: Query): Promise<void> {
  // What is under way is shown first: to begin anew would only make it late.
  await query.promise?.catch(() => undefined);
  await queries.invalidateQueries({ predicate: (one) => one === query });
}
