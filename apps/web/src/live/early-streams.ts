import type { QueryClient } from '@tanstack/react-query';
import { type Environment, api } from '../session/api.ts';
import { EarlyStream } from './early-stream.ts';
import { readOnceMore } from './read-once-more.ts';

let early: { readonly environment: Environment; readonly stream: EarlyStream } | undefined;
let followed: Environment | undefined;

/** Begins to follow an environment while the code of the page about it is still loaded. */
export function openEarly(queries: QueryClient, environment: Environment): void {
  const isThere = early?.environment === environment && !early.stream.isOver;
  if (document.hidden || followed === environment || isThere) return;
  early?.stream.stop();
  const { events } = api(environment);
  const stream = new EarlyStream(
    (query, options) => events.stream(query, options),
    () => readOnceMore(queries, environment),
  );
  early = { environment, stream };
}

/** The stream of that environment, where it was opened early; the page follows it from now on. */
export function takeEarly(environment: Environment): EarlyStream | undefined {
  followed = environment;
  const taken = early;
  early = undefined;
  if (taken?.environment === environment && !taken.stream.isOver) return taken.stream;
  taken?.stream.stop();
  return undefined;
}

/** The page follows it no more. */
export function leave(environment: Environment): void {
  if (followed === environment) followed = undefined;
}
