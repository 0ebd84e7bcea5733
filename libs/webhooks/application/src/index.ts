export { SecretBox } from './endpoints/secret-box.ts';
export { secretsKeyInUse, useSecretsKey } from './endpoints/secrets-key.ts';
export type { EventLog, EventLogQuery, LoggedEventRow } from './replays/event-log.ts';
export type * from './requests-and-answers.ts';
export {
  DEFAULT_REPLAYED_STATUSES,
  REPLAYED_STATUSES,
  REPLAY_ACTIONS,
  REPLAY_STATUSES,
} from '@tracking/webhooks-domain';
export { DEFAULT_SETTINGS, type WebhookSettings } from './settings.ts';
export { CONSUMER_GROUP, DEAD_LETTERS_TOPIC, PARKED_TOPIC, WEBHOOK_TOPICS } from './topics.ts';
export type * from './webhooks-api.ts';
export { Webhooks, type WebhooksDependencies } from './webhooks.ts';
