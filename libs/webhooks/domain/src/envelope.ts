import type { ApiVersion, PublishedEvent } from '@tracking/contracts';

/**
 * The body of every delivery of this event to endpoints of this payload version: made once, kept, and sent as the same
 * bytes at each attempt.
 */
export function renderBody(event: PublishedEvent, apiVersion: ApiVersion, sandbox = false): string {
  const { id, type, created_at, environment, workspace_id, data } = event;
  const envelope = { id, type, created_at, api_version: apiVersion, environment, workspace_id };
  return JSON.stringify(sandbox ? { ...envelope, sandbox, data } : { ...envelope, data });
}
