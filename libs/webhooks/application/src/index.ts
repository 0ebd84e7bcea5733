export { SecretBox } from './endpoints/secrets.ts';
export type { FindShardOwner, ShardOwnerOperations } from './ownership/owner-messages.ts';
export { createShardLeaseName } from './ownership/shards.ts';
export { getSecretsKeyId, storeOrCheckSecretsKey } from './endpoints/endpoint-store.ts';
export type { EventLog, EventLogQuery, LoggedEventWithoutData } from './replays/replay-source.ts';
export type * from './operation-types.ts';
export {
  DEFAULT_REPLAYED_STATUSES,
  REPLAYED_STATUSES,
  REPLAY_OR_DISCARD_ACTIONS,
  REPLAY_STATUSES,
} from '@tracking/webhooks-domain';
export { DEFAULT_WEBHOOK_SETTINGS, type WebhookSettings } from './settings.ts';
export { CONSUMER_GROUP, DEAD_LETTERS_TOPIC, PARKED_TOPIC, WEBHOOK_BROKER_TOPICS } from './settings.ts';
export type * from './webhooks-api.ts';
export { ATTEMPTS_COLLECTION_SPEC, PAYLOADS_COLLECTION_SPEC } from './store/delivery-document.ts';
export { INDEXED_WEBHOOK_COLLECTIONS, WebhooksFeature, type WebhooksDependencies } from './webhooks.ts';
