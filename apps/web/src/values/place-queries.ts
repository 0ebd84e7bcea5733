import { queryOptions } from '@tanstack/react-query';
import { type Environment, api } from '../session/api.ts';
import { PlaceAsker } from './place-asker.ts';

export type { Place } from './place-asker.ts';

/** The place of a code; null where the service knows no name of it. What is asked for at the same time is one request. */
export function placeQuery(environment: Environment, code: string) {
  return queryOptions({
    queryKey: ['place', environment, code],
    queryFn: () => askers[environment].ask(code),
    staleTime: Infinity,
  });
}

/** Places by words of their names, or the beginning of their code; those with an airport's code too. */
export function placesQuery(environment: Environment, words: string) {
  return queryOptions({
    queryKey: ['places', environment, words],
    queryFn: async ({ signal }) => (await api(environment).places.find({ q: words, limit: 20 }, { signal })).data,
    enabled: words !== '',
    staleTime: Infinity,
  });
}

const askerOf = (environment: Environment) =>
  new PlaceAsker(async (codes) => (await api(environment).places.find({ code: [...codes], limit: 200 })).data);
const askers: Readonly<Record<Environment, PlaceAsker>> = { live: askerOf('live'), test: askerOf('test') };
