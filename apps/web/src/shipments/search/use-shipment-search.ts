import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type ListQuery, listQuery } from './list-query.ts';
import { type ShipmentSearch, withoutEmpty } from './shipment-search.ts';

export interface SearchState {
  readonly search: ShipmentSearch;
  /** What the API is asked for. */
  readonly query: ListQuery;
  /** Changes part of it; undefined takes out. */
  readonly change: (changes: ShipmentSearch) => void;
  readonly replace: (search: ShipmentSearch) => void;
}

/** What the list is narrowed by: all of it stands in the address. */
export function useShipmentSearch(): SearchState {
  const { environment: _environment, ...search } = useSearch({ from: '/signed-in/shipments' });
  const navigate = useNavigate({ from: '/shipments' });
  const text = JSON.stringify(search);
  const query = useMemo(() => listQuery(JSON.parse(text) as ShipmentSearch, new Date()), [text]);
  return {
    search,
    query,
    change: (changes) =>
      void navigate({ search: (now: ShipmentSearch) => withoutEmpty({ ...now, ...changes }), replace: true }),
    replace: (next) => void navigate({ search: withoutEmpty(next) }),
  };
}
