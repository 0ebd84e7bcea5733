import { type PublicAddresses, EVENT_TYPES, type PayloadVersions } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { newDelivery, renderBody, sandboxEvent } from '@tracking/webhooks-domain';
import type { ShardOwner } from '../attempts/shard-owner.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { endpointNotVerified, invalid } from '../refusals.ts';
import type { TestEndpoint, WebhookDelivery } from '../requests-and-answers.ts';
import { type DeliveryDocument, deliveryId, toDelivery, toDocument } from '../store/delivery-document.ts';
import { type Payloads, payloadId } from '../store/payloads.ts';

export interface SandboxTestsParts {
  readonly payloads: Payloads;
  readonly versions: PayloadVersions;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly owner: ShardOwner;
  readonly addresses: PublicAddresses;
}

/** Sandbox events: recorded as any other delivery, for one endpoint, with one attempt. */
export class SandboxTests {
  constructor(private readonly parts: SandboxTestsParts) {}

  async send(command: TestEndpoint, endpoint: EndpointDocument): Promise<WebhookDelivery> {
    const { payloads, versions, deliveries, owner, addresses } = this.parts;
    const type = EVENT_TYPES.find((known) => known === command.type);
    if (type === undefined) {
      const message = `type must be one of ${EVENT_TYPES.join(', ')}.`;
      throw invalid([{ param: 'type', code: 'invalid_value', message }]);
    }
    if (!endpoint.verified) throw endpointNotVerified();
    const { workspace_id, environment, api_version } = endpoint;
    const scope = { workspace_id, environment };
    // Made from the command, so that the same one repeated finds what it made.
    const made = { id: `evt_${command.id}`, type, at: command.at, api_version: versions.newest };
    const event = sandboxEvent({ ...scope, ...made, addresses });
    const payload_id = payloadId(event.id, api_version);
    const id = deliveryId(endpoint.id, event);
    const about = { event_id: event.id, event_type: type, event_created_at: event.created_at, payload_id };
    const origin = command.origin && { origin: command.origin };
    const fields = { ...scope, ...about, ...origin, id, endpoint_id: endpoint.id, sandbox: true };
    const delivery = toDocument(newDelivery(fields, command.at));
    const body = renderBody(event, api_version, true, versions);
    await payloads.store([{ id: payload_id, body, created_at: command.at }]);
    const inserted = await deliveries.insert(delivery);
    payloads.keep(payload_id, body);
    if (inserted) {
      await owner.handOver({ matches: [{ endpoint, delivery }], areNew: true });
      return toDelivery(delivery);
    }
    await owner.notify([endpoint.id]);
    return toDelivery((await deliveries.get(id)) ?? delivery);
  }
}
