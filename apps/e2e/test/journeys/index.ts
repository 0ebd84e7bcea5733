import type { Subject } from '../subject.ts';
import { bulkJourneys } from './bulk.ts';
import { clockJourney } from './clock.ts';
import { demoJourney } from './demo.ts';
import { documentJourneys } from './documents.ts';
import { eventStreamJourney } from './event-stream.ts';
import { exceptionJourneys } from './exceptions.ts';
import { identityJourneys } from './identity.ts';
import { listenJourney } from './listen.ts';
import { milestoneJourneys } from './milestones.ts';
import { operationJourneys } from './operation.ts';
import { preconditionJourneys } from './preconditions.ts';
import { quickStartJourney } from './quick-start.ts';
import { sessionJourneys } from './sessions.ts';
import { settingsJourney } from './settings.ts';
import { shipmentHistoryJourney } from './shipment-history.ts';
import { shipmentListJourneys } from './shipment-lists.ts';
import { shipmentJourneys } from './shipments.ts';
import { transferJourney } from './transfer.ts';
import { userJourneys } from './users.ts';
import { webhookReplayJourneys } from './webhook-replays.ts';
import { webhookSecretJourneys } from './webhook-secrets.ts';
import { webhookJourneys } from './webhooks.ts';

/** Journeys of users and operators, for every deployment. */
export function journeys(subject: () => Subject): void {
  quickStartJourney(subject);
  demoJourney(subject);
  shipmentJourneys(subject);
  bulkJourneys(subject);
  milestoneJourneys(subject);
  shipmentListJourneys(subject);
  shipmentHistoryJourney(subject);
  preconditionJourneys(subject);
  identityJourneys(subject);
  settingsJourney(subject);
  exceptionJourneys(subject);
  userJourneys(subject);
  sessionJourneys(subject);
  webhookJourneys(subject);
  webhookSecretJourneys(subject);
  webhookReplayJourneys(subject);
  listenJourney(subject);
  documentJourneys(subject);
  clockJourney(subject);
  eventStreamJourney(subject);
  operationJourneys(subject);
  transferJourney(subject);
}
