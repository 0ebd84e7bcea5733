import type { Shipment, TrackingClient } from '@tracking/client';
import type { HttpCall } from './curl-of.ts';

export interface NamedCall extends HttpCall {
  readonly label: string;
  /** The same by the client, of calls that change nothing. */
  readonly read?: (client: TrackingClient) => PromiseLike<unknown>;
}

/** The calls by which a system of one's own does what this page does. */
export function callsOf({ id, containers, container_numbers }: Shipment): NamedCall[] {
  const shipment = `/v1/shipments/${id}`;
  const [number] = container_numbers;
  const [container] = containers;
  const departure = { code: 'vessel_departed', occurred_at: '2026-11-21T09:30:00+08:00', location: 'CNSHA' };
  const all = { classifier: 'all', include_superseded: true, include_retracted: true, limit: 200 } as const;
  const reads: readonly [label: string, path: string, read: NonNullable<NamedCall['read']>][] = [
    ['The shipment', '', (client) => client.shipments.get(id)],
    [
      'Its milestones, all of them',
      '/milestones?classifier=all&include_superseded=true&include_retracted=true&limit=200',
      (client) => client.milestones.list(id, all).page(),
    ],
    ['History of its ETA', '/eta_history', (client) => client.shipments.etaHistory(id).page()],
    ['Its history', '/history', (client) => client.shipments.history(id).page()],
    ['Its exceptions', '/exceptions', (client) => client.exceptions.listOf(id).page()],
    ['Its documents', '/documents', (client) => client.documents.list(id).page()],
    ['Why it is what it is', '/explanation', (client) => client.shipments.explain(id)],
  ];
  return [
    ...reads.map(([label, path, read]) => ({ label, method: 'GET' as const, path: shipment + path, read })),
    {
      label: 'Its events',
      method: 'GET',
      path: `/v1/events?shipment_id=${id}`,
      read: (client) => client.events.list({ shipment_id: id }).page(),
    },
    { label: 'Record a milestone', method: 'POST', path: `${shipment}/milestones`, body: departure },
    {
      label: 'Correct a milestone',
      method: 'PATCH',
      path: `${shipment}/milestones/$MILESTONE_ID`,
      body: { note: 'By the agent' },
    },
    { label: 'Retract a milestone', method: 'DELETE', path: `${shipment}/milestones/$MILESTONE_ID` },
    { label: 'Change the shipment', method: 'PATCH', path: shipment, body: { booking_number: 'B-1' } },
    ...(number === undefined
      ? []
      : [
          {
            label: 'Change a container',
            method: 'PATCH' as const,
            path: `${shipment}/containers/${number}`,
            body: { last_free_day: container?.last_free_day ?? '2026-12-24' },
          },
        ]),
    { label: 'Cancel the shipment', method: 'POST', path: `${shipment}/cancel` },
    { label: 'Reopen the shipment', method: 'POST', path: `${shipment}/reopen` },
  ];
}
