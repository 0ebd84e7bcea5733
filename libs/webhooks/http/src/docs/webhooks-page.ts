import { readFileSync } from 'node:fs';
import {
  EVENT_TYPES,
  NEWEST_API_VERSION,
  STANDARD_EVENT_TYPES,
  createEventSamples,
  createSandboxEventData,
  describeEventTrigger,
} from '@tracking/contracts';
import type { EventType, PublicAddresses } from '@tracking/contracts';
import { renderDocumentationPage, renderJsonBlock } from '@tracking/http';

/** Creation time of the example events. */
const EXAMPLE_TIME = '2026-11-23T09:30:00.000Z';

/** Renders `/docs/webhooks`: the rules for receivers (webhooks.md), the event types and an example of each. */
export function renderWebhookDocsPage(addresses: PublicAddresses): string {
  const rules = readFileSync(new URL('webhooks.md', import.meta.url), 'utf8');
  return renderDocumentationPage(
    'Webhooks',
    [rules, renderEventTypesTable(), ...renderPayloadDocs(addresses)].join('\n\n'),
  );
}

function renderEventTypesTable(): string {
  const rows = EVENT_TYPES.map((type) => {
    const isStandard = STANDARD_EVENT_TYPES.includes(type) ? 'yes' : 'no, subscribe to the type by name';
    return `| \`${type}\` | ${describeEventTrigger(type)} | ${isStandard} |`;
  });
  return `## Types

| type | sent when | included in \`*\` |
| --- | --- | --- |
${rows.join('\n')}`;
}

function renderPayloadDocs(addresses: PublicAddresses): readonly string[] {
  return [
    `## Payloads\n\nThe \`data\` of every event about a shipment has \`shipment_id\`, \`external_id\`, \`shipment_version\`, and the resource as it was right after the event. The examples are sandbox events; sandbox events also have \`"sandbox": true\`.`,
    ...EVENT_TYPES.map(
      (type) => `<details id="${type}"><summary><code>${type}</code></summary>

${renderJsonBlock(createSampleWebhookPayload(type, addresses))}

</details>`,
    ),
  ];
}

function createSampleWebhookPayload(type: EventType, addresses: PublicAddresses): object {
  return {
    id: 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
    type,
    created_at: EXAMPLE_TIME,
    api_version: NEWEST_API_VERSION,
    environment: 'live',
    workspace_id: 'wsp_sandbox',
    data: createSandboxEventData(type, createEventSamples(EXAMPLE_TIME, addresses)),
  };
}
