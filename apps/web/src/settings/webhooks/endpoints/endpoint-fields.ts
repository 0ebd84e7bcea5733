import type { BodyOf, WebhookEndpoint } from '@tracking/client';
import { type EventType, STANDARD_EVENT_TYPES, getEventLabel } from '../../../values/event-types.ts';

/** Placeholder that the API returns and accepts instead of a secret header value. */
export const MASKED_HEADER_VALUE = '********';

type ApiVersion = WebhookEndpoint['api_version'];
/** API versions of events. If a version of the API client is missing here, the compiler reports a type error. */
const KNOWN_API_VERSIONS: Readonly<Record<ApiVersion, true>> = { '2026-11-01': true };
export const API_VERSIONS = Object.keys(KNOWN_API_VERSIONS) as readonly ApiVersion[];
/** API version of events for new endpoints. Versions are named by date, so the greatest name is the newest version. */
const NEWEST_API_VERSION = API_VERSIONS.reduce((newest, version) => (version > newest ? version : newest));

/** Names of the forms of payloads, in the order of the form field. */
export const PAYLOAD_FORM_LABELS: Readonly<Record<WebhookEndpoint['payload'], string>> = {
  full: 'Full: with the resource at the time of the event',
  thin: 'Thin: ids, versions and changes only',
};

export const MAX_ENDPOINT_CONCURRENCY = 100;

export interface HeaderFormValue {
  /** Identifier of the header row in the form. */
  readonly key: number;
  readonly name: string;
  readonly value: string;
  /** True if the service stores a value for this header. The service never returns the value. */
  readonly hasStoredValue: boolean;
}

/** Values of the form for a webhook endpoint. */
export interface EndpointFormValues {
  url: string;
  description: string;
  event_types: Subscription;
  headers: HeaderFormValue[];
  api_version: ApiVersion;
  payload: WebhookEndpoint['payload'];
  /** Maximum number of concurrent requests. Null if the form field is empty. */
  max_concurrency: number | null;
}

export const NEW_ENDPOINT_VALUES: EndpointFormValues = {
  url: '',
  description: '',
  event_types: ['*'],
  headers: [],
  api_version: NEWEST_API_VERSION,
  payload: 'full',
  max_concurrency: 16,
};

export function toEndpointFormValues(endpoint: WebhookEndpoint): EndpointFormValues {
  return {
    url: endpoint.url,
    description: endpoint.description ?? '',
    event_types: endpoint.event_types,
    headers: Object.keys(endpoint.headers).map((name, key) => ({ key, name, value: '', hasStoredValue: true })),
    api_version: endpoint.api_version,
    payload: endpoint.payload,
    max_concurrency: endpoint.max_concurrency,
  };
}

/**
 * Builds the request body from the values of the form. For a stored header without a new value, the body contains the
 * placeholder.
 */
export function toEndpointRequestBody(values: EndpointFormValues): BodyOf<'createWebhookEndpoint'> {
  const headers = values.headers
    .filter(({ name }) => name.trim() !== '')
    .map(({ name, value, hasStoredValue }) => [
      name.trim(),
      hasStoredValue && value === '' ? MASKED_HEADER_VALUE : value,
    ]);
  return {
    url: values.url.trim(),
    description: values.description.trim() === '' ? null : values.description.trim(),
    event_types: values.event_types,
    headers: Object.fromEntries(headers) as Record<string, string>,
    api_version: values.api_version,
    payload: values.payload,
    ...(values.max_concurrency !== null && { max_concurrency: values.max_concurrency }),
  };
}

/** Returns only the fields that the user changed. Changes of other users to other fields are therefore kept. */
export function toEndpointPatch(before: WebhookEndpoint, values: EndpointFormValues): BodyOf<'changeWebhookEndpoint'> {
  const [was, is] = [toEndpointRequestBody(toEndpointFormValues(before)), toEndpointRequestBody(values)];
  const differs = (name: keyof typeof is) =>
    JSON.stringify(sortArrays(was[name])) !== JSON.stringify(sortArrays(is[name]));
  return Object.fromEntries(Object.entries(is).filter(([name]) => differs(name as keyof typeof is)));
}

/** Lists the stored headers that the service removes when the scheme, host or port of the URL changes. */
export function listHeadersDroppedByUrlChange(
  before: WebhookEndpoint,
  { url, headers }: EndpointFormValues,
): readonly string[] {
  const origin = URL.parse(url.trim())?.origin;
  if (origin === undefined || origin === URL.parse(before.url)?.origin) return [];
  return headers.filter(({ value, hasStoredValue }) => hasStoredValue && value === '').map(({ name }) => name);
}

/** Returns the errors of the endpoint form that can be detected without a request. */
export function validateEndpointForm({
  url,
  event_types,
  headers,
  max_concurrency: most,
}: EndpointFormValues): Readonly<Record<string, string>> {
  const names = headers.map(({ name }) => name.trim().toLowerCase());
  const errors = {
    url: url.trim() === '' ? 'Enter the URL that receives events' : undefined,
    event_types: event_types.length === 0 ? 'Select at least one event type' : undefined,
    headers: validateHeaders(headers, names),
    max_concurrency: isValidMaxConcurrency(most)
      ? undefined
      : `Enter a whole number from 1 to ${MAX_ENDPOINT_CONCURRENCY}`,
  };
  return Object.fromEntries(Object.entries(errors).filter(([, message]) => message !== undefined)) as Record<
    string,
    string
  >;
}

function isValidMaxConcurrency(value: number | null): boolean {
  return Number.isInteger(value) && value !== null && value >= 1 && value <= MAX_ENDPOINT_CONCURRENCY;
}

function validateHeaders(headers: readonly HeaderFormValue[], names: readonly string[]): string | undefined {
  if (names.some((name) => name === '')) return 'Enter a name for each header, or remove the header';
  if (new Set(names).size < names.length) return 'Use each header name only once';
  return headers.some(({ value, hasStoredValue }) => value === '' && !hasStoredValue)
    ? 'Enter a value for each header'
    : undefined;
}

/** Sorts arrays, so that lists of event types can be compared in any order. */
function sortArrays(value: unknown): unknown {
  return Array.isArray(value) ? value.map(String).sort() : value;
}

/**
 * Event types that the endpoint subscribes to. `*` stands for all standard types, including those of later releases.
 */
export type Subscription = WebhookEndpoint['event_types'];

export function isSubscribedTo(subscription: Subscription, type: EventType): boolean {
  return subscription.includes(type) || (subscription.includes('*') && STANDARD_EVENT_TYPES.includes(type));
}

/**
 * Adds event types to a subscription, or removes them. If a standard type is removed from `*`, the other standard types
 * replace `*`.
 */
export function addOrRemoveEventTypes(
  subscription: Subscription,
  types: readonly EventType[],
  chosen: boolean,
): Subscription {
  if (chosen) return [...subscription, ...types.filter((type) => !isSubscribedTo(subscription, type))];
  const removesStandard = subscription.includes('*') && types.some((type) => STANDARD_EVENT_TYPES.includes(type));
  const named: Subscription = removesStandard
    ? [...STANDARD_EVENT_TYPES, ...subscription.filter((type) => type !== '*')]
    : subscription;
  return [...new Set(named)].filter((type) => type === '*' || !types.includes(type));
}

/**
 * If chosen, subscribes to `*`, which includes future standard types. Otherwise lists the current standard types one by
 * one.
 */
export function toggleFutureStandardEventTypes(subscription: Subscription, chosen: boolean): Subscription {
  const others = subscription.filter((type) => type !== '*' && !STANDARD_EVENT_TYPES.includes(type));
  return chosen ? ['*', ...others] : [...STANDARD_EVENT_TYPES, ...others];
}

/** Describes a subscription in words, such as "All standard types and 1 more". */
export function describeSubscribedEventTypes(subscription: Subscription): string {
  const named = subscription.filter((type) => type !== '*');
  if (subscription.includes('*')) {
    const more = named.filter((type) => !STANDARD_EVENT_TYPES.includes(type)).length;
    return more === 0 ? 'All standard types' : `All standard types and ${more} more`;
  }
  const [first, ...others] = named;
  if (first === undefined) return 'None';
  return others.length === 0 ? getEventLabel(first) : `${getEventLabel(first)} and ${others.length} more`;
}
