import type { SystemUnderTest } from '../subject.ts';
import { declareBulkRequestTests } from './bulk.ts';
import { declareTimeDrivenExceptionTests } from './clock.ts';
import { declareDemoTests } from './demo.ts';
import { declareDocumentTests } from './documents.ts';
import { declareEventStreamTests } from './event-stream.ts';
import { declareExceptionTests } from './exceptions.ts';
import { declareIdentityTests } from './identity.ts';
import { declareListenCommandTests } from './listen.ts';
import { declareMilestoneTests } from './milestones.ts';
import { declareServerOperationTests } from './operation.ts';
import { declareConditionalRequestTests } from './preconditions.ts';
import { declareQuickStartTests } from './quick-start.ts';
import { declareSessionTests } from './sessions.ts';
import { declareSettingsTests } from './settings.ts';
import { declareShipmentHistoryTests } from './shipment-history.ts';
import { declareShipmentListTests } from './shipment-lists.ts';
import { declareShipmentTests } from './shipments.ts';
import { declareEventTransferTests } from './transfer.ts';
import { declareUserTests } from './users.ts';
import { declareWebhookReplayTests } from './webhook-replays.ts';
import { declareWebhookSecretTests } from './webhook-secrets.ts';
import { declareWebhookTests } from './webhooks.ts';

/** Runs the journeys of users and operators, which every deployment must support. */
export function declareJourneyTests(subject: () => SystemUnderTest): void {
  declareQuickStartTests(subject);
  declareDemoTests(subject);
  declareShipmentTests(subject);
  declareBulkRequestTests(subject);
  declareMilestoneTests(subject);
  declareShipmentListTests(subject);
  declareShipmentHistoryTests(subject);
  declareConditionalRequestTests(subject);
  declareIdentityTests(subject);
  declareSettingsTests(subject);
  declareExceptionTests(subject);
  declareUserTests(subject);
  declareSessionTests(subject);
  declareWebhookTests(subject);
  declareWebhookSecretTests(subject);
  declareWebhookReplayTests(subject);
  declareListenCommandTests(subject);
  declareDocumentTests(subject);
  declareTimeDrivenExceptionTests(subject);
  declareEventStreamTests(subject);
  declareServerOperationTests(subject);
  declareEventTransferTests(subject);
}
