import { type ApiVersion, type PublishedEvent, PAYLOAD_VERSIONS, type PayloadVersions } from '@tracking/contracts';

/**
 * The body of every delivery of this event to endpoints of this payload version: made once, kept, and sent as the same
 * bytes at each attempt.
 * @param apiVersion one that {@link PayloadVersions.versionFor} answers for the event
 */
export function renderBody(
  event: PublishedEvent,
  apiVersion: ApiVersion,
  sandbox = false,
  versions: PayloadVersions = PAYLOAD_VERSIONS,
): string {
  const { id, type, created_at, environment, workspace_id } = event;
  const envelope = { id, type, created_at, api_version: apiVersion, environment, workspace_id };
  const data = versions.dataIn(event, apiVersion);
  return JSON.stringify(sandbox ? { ...envelope, sandbox, data } : { ...envelope, data });
}
