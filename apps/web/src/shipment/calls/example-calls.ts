import type { Shipment, TrackingClient } from '@tracking/client';

export interface ExampleApiRequest extends HttpRequestParts {
  readonly label: string;
  /** Sends the request with the API client. Defined only for requests that read. */
  readonly read?: (client: TrackingClient) => PromiseLike<unknown>;
}

/** Lists the API requests that do the same as the functions of the shipment page. */
export function listApiRequestsForShipmentPage({ id, containers, container_numbers }: Shipment): ExampleApiRequest[] {
  const shipment = `/v1/shipments/${id}`;
  const [number] = container_numbers;
  const [container] = containers;
  const departure = { code: 'vessel_departed', occurred_at: '2026-11-21T09:30:00+08:00', location: 'CNSHA' };
  const all = { classifier: 'all', include_superseded: true, include_retracted: true, limit: 200 } as const;
  const reads: readonly [label: string, path: string, read: NonNullable<ExampleApiRequest['read']>][] = [
    ['Get the shipment', '', (client) => client.shipments.get(id)],
    [
      'List all milestones',
      '/milestones?classifier=all&include_superseded=true&include_retracted=true&limit=200',
      (client) => client.milestones.list(id, all).page(),
    ],
    ['List ETA changes', '/eta_history', (client) => client.shipments.etaHistory(id).page()],
    ['List the history', '/history', (client) => client.shipments.history(id).page()],
    ['List exceptions', '/exceptions', (client) => client.exceptions.listOf(id).page()],
    ['List documents', '/documents', (client) => client.documents.list(id).page()],
    ['Explain status and times', '/explanation', (client) => client.shipments.explain(id)],
  ];
  return [
    ...reads.map(([label, path, read]) => ({ label, method: 'GET' as const, path: shipment + path, read })),
    {
      label: 'List events',
      method: 'GET',
      path: `/v1/events?shipment_id=${id}`,
      read: (client) => client.events.list({ shipment_id: id }).page(),
    },
    { label: 'Record a milestone', method: 'POST', path: `${shipment}/milestones`, body: departure },
    {
      label: 'Correct a milestone',
      method: 'PATCH',
      path: `${shipment}/milestones/$MILESTONE_ID`,
      body: { note: 'Confirmed by the agent' },
    },
    { label: 'Retract a milestone', method: 'DELETE', path: `${shipment}/milestones/$MILESTONE_ID` },
    { label: 'Update the shipment', method: 'PATCH', path: shipment, body: { booking_number: 'B-1' } },
    ...(number === undefined
      ? []
      : [
          {
            label: 'Update a container',
            method: 'PATCH' as const,
            path: `${shipment}/containers/${number}`,
            body: { last_free_day: container?.last_free_day ?? '2026-12-24' },
          },
        ]),
    { label: 'Cancel the shipment', method: 'POST', path: `${shipment}/cancel` },
    { label: 'Reopen the shipment', method: 'POST', path: `${shipment}/reopen` },
  ];
}

export interface HttpRequestParts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path of the request with its query string. */
  readonly path: string;
  readonly body?: object | undefined;
}

/** Placeholder for the API key in example requests. A page never contains a real key. */
const API_KEY_PLACEHOLDER = '$API_KEY';

/** Pattern of the placeholders in a path, which the user replaces. */
const PATH_PLACEHOLDER_PATTERN = /\$[A-Z_]+/g;

/** Formats an API request as a curl command. */
export function formatCurl({ method, path, body }: HttpRequestParts, base: string): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoteForShell(base + path).replaceAll(PATH_PLACEHOLDER_PATTERN, `'"$&"'`)}`,
    `-H "Authorization: Bearer ${API_KEY_PLACEHOLDER}"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoteForShell(JSON.stringify(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** Quotes a text as one argument of a shell command. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
