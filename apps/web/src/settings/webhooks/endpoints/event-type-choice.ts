import type { WebhookEndpoint } from '@tracking/client';
import { type EventType, STANDARD_EVENT_TYPES, eventLabel } from '../../../values/event-types.ts';

/** What an endpoint gets: `*` is all the standard ones, also those that a later release adds. */
export type Subscription = WebhookEndpoint['event_types'];

export function isChosen(subscription: Subscription, type: EventType): boolean {
  return subscription.includes(type) || (subscription.includes('*') && STANDARD_EVENT_TYPES.includes(type));
}

/** Chooses these types, or no longer; leaving out a standard one names the others instead of `*`. */
export function choose(subscription: Subscription, types: readonly EventType[], chosen: boolean): Subscription {
  if (chosen) return [...subscription, ...types.filter((type) => !isChosen(subscription, type))];
  const breaksStandard = subscription.includes('*') && types.some((type) => STANDARD_EVENT_TYPES.includes(type));
  const named: Subscription = breaksStandard
    ? [...STANDARD_EVENT_TYPES, ...subscription.filter((type) => type !== '*')]
    : subscription;
  return [...new Set(named)].filter((type) => type === '*' || !types.includes(type));
}

/** All standard types, or those of them that were chosen one by one. */
export function chooseStandard(subscription: Subscription, chosen: boolean): Subscription {
  const others = subscription.filter((type) => type !== '*' && !STANDARD_EVENT_TYPES.includes(type));
  return chosen ? ['*', ...others] : [...STANDARD_EVENT_TYPES, ...others];
}

/** "All standard types and 1 more" */
export function eventTypesLabel(subscription: Subscription): string {
  const named = subscription.filter((type) => type !== '*');
  if (subscription.includes('*')) {
    const more = named.filter((type) => !STANDARD_EVENT_TYPES.includes(type)).length;
    return more === 0 ? 'All standard types' : `All standard types and ${more} more`;
  }
  const [first, ...others] = named;
  if (first === undefined) return 'None';
  return others.length === 0 ? eventLabel(first) : `${eventLabel(first)} and ${others.length} more`;
}
