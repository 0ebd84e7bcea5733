import type { Shipment } from '@tracking/client';
import type { ShipmentNews } from '../../live/live-news.ts';
import type { ListQuery } from '../search/list-query.ts';
import { matches, precedes } from '../search/matches.ts';

/** A list may be read just before the service has put into it what it told. */
const SLACK_MS = 2_000;

export interface ListedRows {
  readonly rows: readonly Shipment[];
  /** Whether others follow that were not read. */
  readonly more: boolean;
  readonly readAt: number;
  readonly query: ListQuery;
}

/** What a list would show otherwise, were it read anew. */
export interface ListNews {
  /** Shipments that would come in. */
  readonly fresh: number;
  /** Ids of rows that would go. */
  readonly gone: ReadonlySet<string>;
  /** More happened than was told. */
  readonly missed: boolean;
}

export function listNews({ rows, more, readAt, query }: ListedRows, news: ShipmentNews): ListNews {
  const told = [...news.shipments.values()].filter(({ toldAt }) => toldAt > readAt - SLACK_MS);
  if (told.length === 0) return { fresh: 0, gone: new Set(), missed: news.missed };
  const byId = new Map(rows.map((row) => [row.id, row]));
  const last = rows.at(-1);
  const isFresh = (shipment: Shipment) =>
    !byId.has(shipment.id) &&
    matches(shipment, query) &&
    (!more || last === undefined || precedes(shipment, last, query.sort));
  const changed = told.flatMap(({ shipment: { id } }) => byId.get(id) ?? []);
  return {
    fresh: told.filter(({ shipment }) => isFresh(shipment)).length,
    gone: new Set(changed.filter((row) => !matches(row, query)).map(({ id }) => id)),
    missed: news.missed,
  };
}

/** Undefined where there is none. */
export function newsText({ fresh, gone, missed }: ListNews): string | undefined {
  const parts = [
    ...(fresh > 0 ? [`${fresh} new`] : []),
    ...(gone.size > 0 ? [`${gone.size} no longer ${gone.size === 1 ? 'matches' : 'match'}`] : []),
    ...(missed ? ['the connection was away'] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
