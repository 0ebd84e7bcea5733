import type { Environment } from '@tracking/contracts';
import { tellAudit } from '@tracking/http';
import type {
  ReplayCommand,
  SettleDeadLetters,
  SettledDeadLetters,
  WebhookDelivery,
  WebhookOperations,
  WebhookReplay,
} from '@tracking/webhooks';
import type { FastifyRequest } from 'fastify';

/** Replays or discards dead letters, and tells the audit log which, how many there were, and the jobs that do it. */
export async function settleAudited(
  request: FastifyRequest,
  deadLetters: WebhookOperations['deadLetters'],
  how: 'replay' | 'discard',
  command: SettleDeadLetters,
): Promise<SettledDeadLetters> {
  const { workspace_id, environment, filter } = command;
  const { delivery_ids, ...others } = filter;
  // Those that are named are told one by one. Before: what is discarded is counted no more.
  const counted =
    delivery_ids === undefined && (await deadLetters.summary({ workspace_id, environment, filter: others }));
  const settled = await deadLetters[how](command);
  const [first] = settled.replays;
  const after = first && {
    environment,
    endpoint_id: filter.endpoint_id,
    ...filterOf(first),
    ...(counted && { [counted.is_exact ? 'matched' : 'matched_at_least']: counted.count }),
    replay_ids: settled.replays.map(({ id }) => id),
  };
  tellAudit(request, { before: null, after: after ?? null });
  return settled;
}

/** Of a replay that was begun. */
export function tellReplayed(request: FastifyRequest, replay: WebhookReplay, environment: Environment): void {
  const after = { environment, ...filterOf(replay), statuses: replay.statuses, replay_id: replay.id };
  tellAudit(request, { before: null, after }, replay.endpoint_id);
}

/** Cancels or resumes a replay, and tells the audit log where it did not stand so already. */
export async function changeAudited(
  request: FastifyRequest,
  replays: WebhookOperations['replays'],
  how: 'cancel' | 'resume',
  command: ReplayCommand,
): Promise<WebhookReplay> {
  const { workspace_id, environment, replay_id } = command;
  const { status: from } = await replays.get({ workspace_id, environment, replay_id });
  const after = await replays[how](command);
  const { action, endpoint_id, matched, status: to } = after;
  const about = { environment, action, endpoint_id, matched };
  const isChanged = from !== to && to === (how === 'cancel' ? 'canceled' : 'running');
  tellAudit(
    request,
    { before: isChanged ? { status: from } : null, after: isChanged ? { ...about, status: to } : null },
    replay_id,
  );
  return after;
}

export function tellDiscarded(request: FastifyRequest, before: WebhookDelivery, after: WebhookDelivery): void {
  const { endpoint_id, event_id, event_type, status } = after;
  const isChanged = before.status !== status;
  const told = { endpoint_id, event_id, event_type, status };
  tellAudit(
    request,
    { before: isChanged ? { status: before.status } : null, after: isChanged ? told : null },
    after.id,
  );
}

function filterOf({ since, until, event_types, reasons, delivery_ids }: WebhookReplay) {
  return { since, until, event_types, reasons, delivery_ids };
}
