import type { SystemUnderTest } from '../subject.ts';
import { testBulkRequests } from './bulk.ts';
import { testTimeDrivenExceptions } from './clock.ts';
import { testDemo } from './demo.ts';
import { testDocuments } from './documents.ts';
import { testEventStream } from './event-stream.ts';
import { testExceptions } from './exceptions.ts';
import { testIdentity } from './identity.ts';
import { testListenCommand } from './listen.ts';
import { testMilestones } from './milestones.ts';
import { testServerOperation } from './operation.ts';
import { testConditionalRequests } from './preconditions.ts';
import { testQuickStart } from './quick-start.ts';
import { testSessions } from './sessions.ts';
import { testSettings } from './settings.ts';
import { testShipmentHistory } from './shipment-history.ts';
import { testShipmentLists } from './shipment-lists.ts';
import { testShipments } from './shipments.ts';
import { testEventTransfer } from './transfer.ts';
import { testUsers } from './users.ts';
import { testWebhookReplays } from './webhook-replays.ts';
import { testWebhookSecrets } from './webhook-secrets.ts';
import { testWebhooks } from './webhooks.ts';

/** Runs the journeys of users and operators, which every deployment must support. */
export function testJourneys(subject: () => SystemUnderTest): void {
  testQuickStart(subject);
  testDemo(subject);
  testShipments(subject);
  testBulkRequests(subject);
  testMilestones(subject);
  testShipmentLists(subject);
  testShipmentHistory(subject);
  testConditionalRequests(subject);
  testIdentity(subject);
  testSettings(subject);
  testExceptions(subject);
  testUsers(subject);
  testSessions(subject);
  testWebhooks(subject);
  testWebhookSecrets(subject);
  testWebhookReplays(subject);
  testListenCommand(subject);
  testDocuments(subject);
  testTimeDrivenExceptions(subject);
  testEventStream(subject);
  testServerOperation(subject);
  testEventTransfer(subject);
}
