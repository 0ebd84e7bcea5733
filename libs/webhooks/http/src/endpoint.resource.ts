import { ApiSchema } from '@nestjs/swagger';
import { API_VERSIONS, ENVIRONMENTS, EVENT_TYPES } from '@tracking/contracts';
import type { ApiVersion, Environment, Page, Warning } from '@tracking/contracts';
import { Shown, ShownTime, ShownWarnings } from '@tracking/http';
import type { NewWebhookEndpoint, WebhookEndpoint } from '@tracking/webhooks';

@ApiSchema({ name: 'WebhookError' })
export class WebhookErrorResource {
  @Shown(String, 'Stable code.', { example: 'timeout' })
  readonly code!: string;
  @Shown(String, 'What went wrong, for people.')
  readonly message!: string;
}

@ApiSchema({ name: 'WebhookVerification' })
export class VerificationResource {
  @ShownTime('When the challenge was sent.')
  readonly at!: string;
  @Shown(Boolean, 'Whether the endpoint answered with the token.')
  readonly ok!: boolean;
  @Shown(WebhookErrorResource, 'Why it counts as failed.', { nullable: true })
  readonly error!: WebhookErrorResource | null;
}

@ApiSchema({ name: 'WebhookEndpoint' })
export class EndpointResource implements WebhookEndpoint {
  @Shown(String, 'Service-assigned identifier.', { example: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'Where events are posted to.')
  readonly url!: string;
  @Shown([String], 'What it gets; `*` is the six standard types.', { enum: ['*', ...EVENT_TYPES] })
  readonly event_types!: string[];
  @Shown(String, 'For people.', { nullable: true })
  readonly description!: string | null;
  @Shown(String, 'Version of the payloads.', { enum: [...API_VERSIONS] })
  readonly api_version!: ApiVersion;
  @Shown(String, 'Whose events it gets.', { enum: [...ENVIRONMENTS] })
  readonly environment!: Environment;
  @Shown(String, 'Only an enabled one gets live events.', {
    enum: ['pending_verification', 'verified', 'enabled', 'disabled'],
  })
  readonly status!: WebhookEndpoint['status'];
  @Shown(String, '`manual`, or `gone`: it answered 410.', { nullable: true, enum: ['manual', 'gone'] })
  readonly disabled_reason!: WebhookEndpoint['disabled_reason'];
  @Shown(VerificationResource, 'Outcome of the last challenge to this URL.', { nullable: true })
  readonly last_verification!: VerificationResource | null;
  @Shown('object', 'Go with every delivery; values masked.', { additionalProperties: { type: 'string' } })
  readonly headers!: Record<string, string>;
  @Shown('integer', 'Most attempts at once.')
  readonly max_concurrency!: number;
  @ShownTime('When it was made.')
  readonly created_at!: string;
  @ShownTime('When it last changed.')
  readonly updated_at!: string;
  @Shown('integer', 'Grows with every change.')
  readonly version!: number;
}

@ApiSchema({ name: 'WebhookEndpointWritten' })
export class EndpointWrittenResource extends EndpointResource {
  @ShownWarnings()
  readonly warnings!: Warning[];
}

export const EXAMPLE_SECRET = 'whsec_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3+4A=';

@ApiSchema({ name: 'WebhookEndpointCreated' })
export class EndpointCreatedResource extends EndpointWrittenResource implements NewWebhookEndpoint {
  @Shown(String, 'Signs every request to it: the whole string is the HMAC key. No read shows it.', {
    example: EXAMPLE_SECRET,
  })
  readonly secret!: string;
}

@ApiSchema({ name: 'WebhookEndpointDeleted' })
export class EndpointDeletedResource {
  @Shown(String, 'The endpoint that was.')
  readonly id!: string;
  @Shown(Boolean, 'Always true.', { enum: [true] })
  readonly deleted!: true;
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'WebhookEndpointPage' })
export class EndpointPageResource implements Page<WebhookEndpoint> {
  @Shown([EndpointResource], 'The endpoints of this page.')
  readonly data!: EndpointResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
