import { useNavigate, useSearch } from '@tanstack/react-router';
import { SHIPMENT_FILTERS } from '@tracking/client';
import { useEffect, useMemo, useState } from 'react';
import {
  DAY_FILTER_NAMES,
  type Day,
  type FilterName,
  MULTI_VALUE_FILTERS,
  LIST_FILTER_OPTIONS,
  type ListFilter,
  type ListQuery,
  type ShipmentFilters,
  type ShipmentUrlParameters,
  type ShipmentSort,
  BOOLEAN_FILTERS,
  formatDay,
  buildShipmentListQuery,
  removeEmptyParameters,
} from './shipment-search.ts';

export interface ShipmentSearchState {
  readonly search: ShipmentUrlParameters;
  /** Query parameters of the API request for the list. */
  readonly query: ListQuery;
  /** Changes parameters of the search. A parameter that is undefined is removed. */
  readonly change: (changes: ShipmentUrlParameters) => void;
  readonly replace: (search: ShipmentUrlParameters) => void;
}

/** Returns the search of the shipment list, which the page URL contains, and functions that change it. */
export function useShipmentListUrlSearch(): ShipmentSearchState {
  const { environment: _environment, ...search } = useSearch({ from: '/signed-in/shipments' });
  const navigate = useNavigate({ from: '/shipments' });
  const text = JSON.stringify(search);
  const today = useStartOfToday();
  const query = useMemo(
    () => buildShipmentListQuery(JSON.parse(text) as ShipmentUrlParameters, new Date(today)),
    [text, today],
  );
  return {
    search,
    query,
    change: (changes) =>
      void navigate({
        search: (now: ShipmentUrlParameters) => removeEmptyParameters({ ...now, ...changes }),
        replace: true,
      }),
    replace: (next) => void navigate({ search: removeEmptyParameters(next) }),
  };
}

/** Returns the start of the current day in epoch milliseconds. The value is updated at midnight. */
function useStartOfToday(): number {
  const [today, setToday] = useState(() => new Date().setHours(0, 0, 0, 0));
  useEffect(() => {
    const tomorrow = new Date(today).setHours(24, 0, 0, 0);
    const timer = setTimeout(() => setToday(new Date().setHours(0, 0, 0, 0)), Math.max(tomorrow - Date.now(), 1_000));
    return () => clearTimeout(timer);
  }, [today]);
  return today;
}

export function getFilterLabel(name: FilterName): string {
  return SHIPMENT_FILTERS[name].label;
}

export const SHIPMENT_SORT_LABELS: Readonly<Record<ShipmentSort, string>> = {
  '-created_at': 'Newest first',
  created_at: 'Oldest first',
  '-updated_at': 'Last updated first',
  updated_at: 'Least recently updated first',
  eta: 'ETA, soonest first',
  '-eta': 'ETA, latest first',
};

/** Formats the value of a filter for display. For a port filter, the result is the code of the port. */
export function formatFilterValue(name: FilterName, value: NonNullable<ShipmentFilters[FilterName]>): string {
  const list = MULTI_VALUE_FILTERS.find((each) => each === name);
  if (list !== undefined) return formatListFilterValues(list, String(value));
  if (BOOLEAN_FILTERS.some((each) => each === name)) return value === true ? 'yes' : 'no';
  if (DAY_FILTER_NAMES.some((each) => each === name)) return formatDay(value as Day);
  return String(value);
}

function formatListFilterValues(name: ListFilter, values: string): string {
  // The label of an Incoterms rule is too long for a list.
  if (name === 'incoterm') return values.split(',').join(', ');
  const labels = new Map(LIST_FILTER_OPTIONS[name].map(({ value, label }) => [value, label]));
  return values
    .split(',')
    .map((value) => labels.get(value) ?? value)
    .join(', ');
}
