import {
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
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly addresses: PublicAddresses;
}

/** An event with invented data in the shape of live ones. */
export function sandboxEvent({ id, type, at, workspace_id, environment, addresses }: SandboxContext): PublishedEvent {
  const data = sandboxData(type, eventSamples(at, addresses, environment));
  return { id, type, created_at: at, environment, workspace_id, data };
}
