import { useQueries } from '@tanstack/react-query';
import { useEnvironment } from '../session/session.ts';
import { type Place, placeQuery } from './place-queries.ts';
import { PlaceName } from './place.tsx';

/** Codes of places, of all that may be free text. */
const CODE = /^[A-Z]{2}[A-Z2-9]{3}$|^[A-Z]{3}$/;

/** What is known of places, by their codes; of none until it is read. What is no code is let be. */
export function usePlaces(names: readonly (string | null)[]): ReadonlyMap<string, Place> {
  const environment = useEnvironment();
  const codes = [...new Set(names)].filter((name) => name !== null && CODE.test(name)) as string[];
  return useQueries({
    queries: codes.map((code) => placeQuery(environment, code)),
    combine: (found) => new Map(found.flatMap(({ data }) => (data ? [[data.code, data] as const] : []))),
  });
}

/** A place as a milestone tells it: by its code or in words. */
export function PlaceOrText({ name }: { readonly name: string | null }) {
  return name === null || CODE.test(name) ? <PlaceName code={name} /> : <>{name}</>;
}
