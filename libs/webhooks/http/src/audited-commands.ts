/*
 * Commands of webhooks with their audit entries, for clients and for operators. Call them in a handler that is
 * `@Audited`, or within `AuditTrail.during`.
 */

import { reportChangeForAudit } from '@tracking/http';
import type {
  CreateReplayCommand,
  WebhookDeliveryCommand,
  ExistingReplayCommand,
  ReplayOrDiscardCommand,
  DeadLetterReplayResult,
  WebhookDelivery,
  WebhookOperations,
  WebhookReplay,
} from '@tracking/webhooks';
import type { FastifyRequest } from 'fastify';

/**
 * Starts to replay or discard dead letters. The audit entry contains the filter, the count and the ids of the replays.
 */
export async function replayOrDiscardDeadLetters(
  request: FastifyRequest,
  deadLetters: WebhookOperations['deadLetters'],
  action: 'replay' | 'discard',
  command: ReplayOrDiscardCommand,
): Promise<DeadLetterReplayResult> {
  const { workspace_id, environment, filter } = command;
  const { delivery_ids, ...others } = filter;
  // Count dead letters before discarding them: a discarded delivery is no longer a dead letter.
  const counted =
    delivery_ids === undefined && (await deadLetters.summary({ workspace_id, environment, filter: others }));
  const settled = await deadLetters[action](command);
  const [first] = settled.replays;
  const after = first && {
    environment,
    endpoint_id: filter.endpoint_id,
    ...selectAuditedReplayFilter(first),
    ...(counted && { [counted.is_exact ? 'matched' : 'matched_at_least']: counted.count }),
    replay_ids: settled.replays.map(({ id }) => id),
  };
  reportChangeForAudit(request, { before: null, after: after ?? null });
  return settled;
}

/** Starts a replay. The audit entry contains its filter. */
export async function createReplay(
  request: FastifyRequest,
  replays: WebhookOperations['replays'],
  command: CreateReplayCommand,
): Promise<WebhookReplay> {
  const replay = await replays.create(command);
  const { environment } = command;
  const after = { environment, ...selectAuditedReplayFilter(replay), statuses: replay.statuses, replay_id: replay.id };
  reportChangeForAudit(request, { before: null, after }, replay.endpoint_id);
  return replay;
}

/** Cancels or resumes a replay. Nothing is audited if the replay already had that status. */
export async function cancelOrResumeReplay(
  request: FastifyRequest,
  replays: WebhookOperations['replays'],
  action: 'cancel' | 'resume',
  command: ExistingReplayCommand,
): Promise<WebhookReplay> {
  const { workspace_id, environment, replay_id } = command;
  const { status: from } = await replays.get({ workspace_id, environment, replay_id });
  const replay = await replays[action](command);
  const { action: kind, endpoint_id, matched, status: to } = replay;
  const isChanged = from !== to && to === (action === 'cancel' ? 'canceled' : 'running');
  const after = { environment, action: kind, endpoint_id, matched, status: to };
  const change = isChanged ? { before: { status: from }, after } : { before: null, after: null };
  reportChangeForAudit(request, change, replay_id);
  return replay;
}

/** Discards a delivery. Nothing is audited if the delivery was already discarded. */
export async function discardDelivery(
  request: FastifyRequest,
  deliveries: WebhookOperations['deliveries'],
  command: WebhookDeliveryCommand,
): Promise<WebhookDelivery> {
  const { workspace_id, environment, delivery_id } = command;
  const { status: from } = await deliveries.get({ scopes: [{ workspace_id, environment }], delivery_id });
  const delivery = await deliveries.discard(command);
  const { endpoint_id, event_id, event_type, status } = delivery;
  const after = { endpoint_id, event_id, event_type, status };
  const change = from === status ? { before: null, after: null } : { before: { status: from }, after };
  reportChangeForAudit(request, change, delivery.id);
  return delivery;
}

function selectAuditedReplayFilter({ since, until, event_types, reasons, delivery_ids }: WebhookReplay) {
  return { since, until, event_types, reasons, delivery_ids };
}
