import {
  EVENT_TYPES,
  NEWEST_API_VERSION,
  STANDARD_EVENT_TYPES,
  eventSamples,
  sandboxData,
  toldWhen,
} from '@tracking/contracts';
import type { EventType, PublicAddresses } from '@tracking/contracts';
import { code, documentationPage, escaped, paragraph, table } from './html.ts';
import { WEBHOOK_RULES } from './webhook-rules.ts';

/** What examples are dated. */
const AT = '2026-11-23T09:30:00.000Z';

/** All that a receiver has to know, with what sandbox events hold. */
export function webhooksPage(addresses: PublicAddresses): string {
  return documentationPage('Webhooks', [...WEBHOOK_RULES, ...payloads(addresses)].join('\n'));
}

function payloads(addresses: PublicAddresses): readonly string[] {
  const named = (type: EventType) => (STANDARD_EVENT_TYPES.includes(type) ? 'yes' : 'no: name it');
  return [
    '<h2 id="types">Types of events</h2>',
    table(
      ['type', 'told when', 'in *'],
      EVENT_TYPES.map((type) => [`\`${type}\``, toldWhen(type), named(type)]),
    ),
    '<h2 id="payloads">Payloads by type</h2>',
    paragraph(
      'Every `data` about a shipment has `shipment_id`, `external_id` and `shipment_version`, and the resource as it was right after the event. These are what a sandbox event of the type holds; that says `"sandbox": true` beside.',
    ),
    ...EVENT_TYPES.map((type) => {
      const payload = code(JSON.stringify(samplePayload(type, addresses), null, 2));
      return `<details id="${type}"><summary><code>${escaped(type)}</code></summary>${payload}</details>`;
    }),
  ];
}

function samplePayload(type: EventType, addresses: PublicAddresses): object {
  return {
    id: 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
    type,
    created_at: AT,
    api_version: NEWEST_API_VERSION,
    environment: 'live',
    workspace_id: 'wsp_sandbox',
    data: sandboxData(type, eventSamples(AT, addresses)),
  };
}
