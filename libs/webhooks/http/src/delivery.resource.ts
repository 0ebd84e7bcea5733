import { ApiSchema } from '@nestjs/swagger';
import { DELIVERY_STATUSES, EVENT_TYPES } from '@tracking/contracts';
import type { JsonValue, Page, Warning } from '@tracking/contracts';
import { Shown, ShownTime, ShownWarnings } from '@tracking/http';
import type { WebhookAttempt, WebhookDelivery, WebhookDeliveryDetail } from '@tracking/webhooks';
import { WebhookErrorResource } from './endpoint.resource.ts';

@ApiSchema({ name: 'WebhookDelivery' })
export class DeliveryResource implements WebhookDelivery {
  @Shown(String, 'Service-assigned identifier: one for an event and an endpoint.', {
    example: 'dlv_9c1e2k7qv3n5xw6yz2aabbccdd',
  })
  readonly id!: string;
  @Shown(String, 'Where it goes.')
  readonly endpoint_id!: string;
  @Shown(String, 'What it brings.')
  readonly event_id!: string;
  @Shown(String, 'Type of the event.', { enum: [...EVENT_TYPES] })
  readonly event_type!: string;
  @Shown(String, 'How far it is.', { enum: [...DELIVERY_STATUSES] })
  readonly status!: WebhookDelivery['status'];
  @Shown(Boolean, 'Whether the event was made for a test.')
  readonly sandbox!: boolean;
  @ShownTime('When it was recorded.')
  readonly created_at!: string;
  @ShownTime('The next attempt by the schedule.', { nullable: true })
  readonly next_attempt_at!: string | null;
  @ShownTime('When it came to its end.', { nullable: true })
  readonly completed_at!: string | null;
  @Shown('integer', 'Attempts made.')
  readonly attempts_count!: number;
  @Shown(WebhookErrorResource, 'Why the last attempt failed.', { nullable: true })
  readonly last_error!: WebhookErrorResource | null;
  @Shown('integer', 'Grows with every change, attempts among them.')
  readonly version!: number;
}

@ApiSchema({ name: 'WebhookDeliveryWritten' })
export class DeliveryWrittenResource extends DeliveryResource {
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'WebhookResponse' })
class ResponseResource {
  @Shown('object', 'Headers, names in lower case.', { additionalProperties: { type: 'string' } })
  readonly headers!: Record<string, string>;
  @Shown(String, 'The body, at most 16 KiB of it.')
  readonly body!: string;
}

@ApiSchema({ name: 'WebhookAttempt' })
export class AttemptResource implements WebhookAttempt {
  @Shown('integer', 'From 1. Of very many the first and the latest fifty are kept.')
  readonly number!: number;
  @ShownTime('When it began.')
  readonly at!: string;
  @Shown('integer', 'From name resolution to the last byte, in milliseconds.')
  readonly duration_ms!: number;
  @Shown('integer', 'What the endpoint answered with.', { nullable: true })
  readonly status_code!: number | null;
  @Shown(WebhookErrorResource, 'Why it failed.', { nullable: true })
  readonly error!: WebhookErrorResource | null;
  @Shown(ResponseResource, 'What the endpoint answered.', { nullable: true })
  readonly response!: ResponseResource | null;
  @Shown(Boolean, 'Whether a person asked for it.')
  readonly manual!: boolean;
  @Shown(
    Boolean,
    'Its kept-alive connection was found closed, and it was sent once more on a new one; else not there.',
    {
      required: false,
      enum: [true],
    },
  )
  readonly resent?: true;
}

@ApiSchema({ name: 'WebhookDeliveryDetail' })
export class DeliveryDetailResource extends DeliveryResource implements WebhookDeliveryDetail {
  @Shown('object', 'The body, as it was and will be sent.', { additionalProperties: true, nullable: true })
  readonly payload!: JsonValue;
  @Shown([AttemptResource], 'Every attempt.')
  readonly attempts!: AttemptResource[];
}

@ApiSchema({ name: 'WebhookDeliveryPage' })
export class DeliveryPageResource implements Page<WebhookDelivery> {
  @Shown([DeliveryResource], 'The deliveries of this page.')
  readonly data!: DeliveryResource[];
  @Shown(String, 'Send it as `cursor` for the next page, with the same filters.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
