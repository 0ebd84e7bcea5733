import type { operations } from '@tracking/client';

/** All public event types with their labels. The event log contains only the types that concern shipments. */
export type EventType = operations['testWebhookEndpoint']['requestBody']['content']['application/json']['type'];
export type ShipmentEventType = Exclude<EventType, 'webhook_endpoint.failing' | 'webhook_delivery.dead_lettered'>;

interface EventTypeDescription {
  readonly group: 'Shipments' | 'Milestones' | 'Exceptions' | 'Documents' | 'Webhooks';
  readonly label: string;
  readonly about: string;
  /** True if an endpoint that subscribes to all standard types receives this event type. */
  readonly standard: boolean;
}

const EVENT_TYPE_DESCRIPTIONS: Readonly<Record<EventType, EventTypeDescription>> = {
  'shipment.created': {
    group: 'Shipments',
    label: 'Shipment created',
    about: 'A shipment was created.',
    standard: true,
  },
  'shipment.updated': {
    group: 'Shipments',
    label: 'Shipment updated',
    about: 'A set or derived field of a shipment changed.',
    standard: true,
  },
  'milestone.recorded': {
    group: 'Milestones',
    label: 'Milestone recorded',
    about: 'An actual milestone was recorded, or an estimate became actual.',
    standard: true,
  },
  'milestone.retracted': {
    group: 'Milestones',
    label: 'Milestone retracted',
    about: 'An actual milestone was retracted.',
    standard: false,
  },
  'exception.opened': {
    group: 'Exceptions',
    label: 'Exception opened',
    about: 'An exception was opened on a shipment.',
    standard: true,
  },
  'exception.updated': {
    group: 'Exceptions',
    label: 'Exception updated',
    about: 'An exception was acknowledged or reassigned, got a note, or became more severe.',
    standard: false,
  },
  'exception.resolved': {
    group: 'Exceptions',
    label: 'Exception resolved',
    about: 'An exception was resolved by a rule or a user.',
    standard: true,
  },
  'document.uploaded': {
    group: 'Documents',
    label: 'Document uploaded',
    about: 'A document was uploaded and awaits review.',
    standard: false,
  },
  'document.approved': {
    group: 'Documents',
    label: 'Document approved',
    about: 'A user approved a document.',
    standard: true,
  },
  'document.rejected': {
    group: 'Documents',
    label: 'Document rejected',
    about: 'A user rejected a document.',
    standard: false,
  },
  'webhook_endpoint.failing': {
    group: 'Webhooks',
    label: 'Endpoint failing',
    about: 'Another endpoint had no successful delivery for an hour.',
    standard: false,
  },
  'webhook_delivery.dead_lettered': {
    group: 'Webhooks',
    label: 'Delivery dead-lettered',
    about: 'A delivery to another endpoint became a dead letter.',
    standard: false,
  },
};

export const EVENT_TYPES = Object.keys(EVENT_TYPE_DESCRIPTIONS) as readonly EventType[];
export const STANDARD_EVENT_TYPES = EVENT_TYPES.filter((type) => EVENT_TYPE_DESCRIPTIONS[type].standard);
export const SHIPMENT_EVENT_TYPES = EVENT_TYPES.filter(
  (type): type is ShipmentEventType => EVENT_TYPE_DESCRIPTIONS[type].group !== 'Webhooks',
);

export const getEventLabel = (type: EventType): string => EVENT_TYPE_DESCRIPTIONS[type].label;
export const getEventTypeDescription = (type: EventType): string => EVENT_TYPE_DESCRIPTIONS[type].about;

/**
 * Returns the event types in groups. With a search text, only types whose name or description contains it are returned.
 */
export function groupEventTypes(
  search = '',
): readonly { readonly group: string; readonly types: readonly EventType[] }[] {
  const wanted = search.trim().toLowerCase();
  const fits = (type: EventType) =>
    [type, EVENT_TYPE_DESCRIPTIONS[type].label, EVENT_TYPE_DESCRIPTIONS[type].about].some((text) =>
      text.toLowerCase().includes(wanted),
    );
  const groups = Map.groupBy(EVENT_TYPES.filter(fits), (type) => EVENT_TYPE_DESCRIPTIONS[type].group);
  return [...groups].map(([group, types]) => ({ group, types }));
}

/** Options of a field for event types, in groups. */
export const EVENT_TYPE_OPTIONS = groupEventTypes().map(({ group, types }) => ({
  group,
  items: types.map((type) => ({ value: type, label: EVENT_TYPE_DESCRIPTIONS[type].label })),
}));
