import { useQueries } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useEnvironment } from '../session/session.ts';
import { placeQuery } from './places.ts';

interface AwaitPlacesProps {
  /** Codes of the places. Missing codes are ignored. */
  readonly codes: readonly (string | null)[];
  readonly children: ReactNode;
}

/**
 * Shows its children after the places were read, or could not be read. In a file of its own, because the form of a
 * shipment must not load the code that shows times with its first load.
 */
export function PlacesLoadingGate({ codes, children }: AwaitPlacesProps) {
  const environment = useEnvironment();
  const distinct = [...new Set(codes)].filter((code) => code !== null);
  const isPending = useQueries({
    queries: distinct.map((code) => placeQuery(environment, code)),
    combine: (found) => found.some((query) => query.isPending),
  });
  return isPending ? null : children;
}
