import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
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
  const today = useToday();
  const query = useMemo(() => listQuery(JSON.parse(text) as ShipmentSearch, new Date(today)), [text, today]);
  return {
    search,
    query,
    change: (changes) =>
      void navigate({ search: (now: ShipmentSearch) => withoutEmpty({ ...now, ...changes }), replace: true }),
    replace: (next) => void navigate({ search: withoutEmpty(next) }),
  };
}

/** Milliseconds at which the reader's day begins; another one from midnight on. */
function useToday(): number {
  const [today, setToday] = useState(() => new Date().setHours(0, 0, 0, 0));
  useEffect(() => {
    const tomorrow = new Date(today).setHours(24, 0, 0, 0);
    const timer = setTimeout(() => setToday(new Date().setHours(0, 0, 0, 0)), Math.max(tomorrow - Date.now(), 1_000));
    return () => clearTimeout(timer);
  }, [today]);
  return today;
}
