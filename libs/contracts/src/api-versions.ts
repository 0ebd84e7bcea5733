import type { JsonObject } from './json.ts';

/** A published form of events. */
export interface ApiVersionDescriptor {
  /** The date when it was published. */
  readonly name: string;
  /**
   * Makes this version's `data` of an event out of the next newer one's, which it leaves as it is. The newest version alone
   * has none: it is what events are made in.
   */
  readonly downgrade?: (type: string, data: JsonObject) => JsonObject;
}

/** Every version, oldest first. Endpoints are pinned to one: none is ever removed, nor what it looks like changed. */
export const API_VERSION_DESCRIPTORS = [{ name: '2026-11-01' }] as const satisfies readonly ApiVersionDescriptor[];

export type ApiVersion = (typeof API_VERSION_DESCRIPTORS)[number]['name'];

/** Published versions of the webhook payload, oldest first. */
export const API_VERSIONS: readonly ApiVersion[] = API_VERSION_DESCRIPTORS.map(({ name }) => name);
/** In which events are made. */
export const NEWEST_API_VERSION: ApiVersion = API_VERSION_DESCRIPTORS[API_VERSION_DESCRIPTORS.length - 1]!.name;
