import {
  type ApiVersion,
  type Environment,
  type EventType,
  type PublicAddresses,
  type PublishedEvent,
  type Timestamp,
  eventSamples,
  sandboxData,
} from '@tracking/contracts';

export interface SandboxContext {
  readonly id: string;
  readonly type: EventType;
  readonly at: Timestamp;
  /** The newest one: in that events are made. */
  readonly api_version: ApiVersion;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly addresses: PublicAddresses;
}

/** An event with invented data in the shape of live ones. */
export function sandboxEvent({
  id,
  type,
  at,
  api_version,
  workspace_id,
  environment,
  addresses,
}: SandboxContext): PublishedEvent {
  const data = sandboxData(type, eventSamples(at, addresses, environment));
  return { id, type, created_at: at, api_version, environment, workspace_id, data };
}
