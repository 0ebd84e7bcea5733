import { type PublicAddresses, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { Identity, identitySweeper } from '@tracking/identity';
import type { Position } from '@tracking/ports';
import { PublishedEvents, ReadModels } from '@tracking/read-models';
import { derivedKey, type Shutdown } from '@tracking/runtime';
import {
  Publisher,
  RecheckJob,
  ReleaseRecheck,
  RuleClock,
  eventOperations,
  makeEventsBy,
  shipmentsService,
} from '@tracking/shipments';
import { WEBHOOK_TOPICS, Webhooks } from '@tracking/webhooks';
import { SettingsOfWorkspaces } from '@tracking/workspace-settings';
import type { StandaloneConfig } from './config.ts';
import { documentJobs } from './document-jobs.ts';
import type { Engines } from './engines.ts';

/** So much of what can be done again is done again after a crash; each write that is saved is a commit. */
const CHECKPOINT_INTERVAL_MS = 100;
/** Readers that expect their own writes wait so much longer, and only while much is written. */
const GATHER_MS = 25;

/** Started in this order, stopped in reverse. @param isPassive attempts nothing */
export async function startFeatures(
  { storage, outbound, places, clock, logger, metrics, secrets, sealing }: Engines,
  config: StandaloneConfig & { readonly addresses: PublicAddresses },
  shutdown: Shutdown,
  isPassive: boolean,
) {
  const { eventStore, documentStore, broker } = storage;
  const { addresses, webhooks: policy } = config;
  const { timeoutMs, recoveryAfterMs, failingAfterMs, retention } = policy;

  const secret = derivedKey(secrets.secretsKey, 'identity');
  const identity = await Identity.open({ documentStore, clock, logger, secret });
  shutdown.add('identity', () => identity.close());
  const { leases } = storage;
  const sweeper = identitySweeper({ identity, leases, clock, logger, metrics });
  if (!isPassive) sweeper.start();
  shutdown.add('identity sweeper', () => sweeper.stop());
  const workspaceSettings = await SettingsOfWorkspaces.open({ documentStore });
  const shipments = shipmentsService({ eventStore, places, settings: workspaceSettings, logger, metrics });
  const pace = { checkpointIntervalMs: CHECKPOINT_INTERVAL_MS, gatherMs: GATHER_MS };
  const following = { ...storage, clock, logger, metrics, ...pace };
  const readModels = await ReadModels.start({ ...following, eventRetentionMs: config.eventRetentionMs });
  shutdown.add('read models', () => readModels.stop());
  const { deadlines: workList } = readModels.queries;
  const ruleClock = new RuleClock({ ...following, shipments, workList });
  if (!isPassive) void readModels.ready.then(() => ruleClock.job.start());
  shutdown.add('clock', () => ruleClock.job.stop());
  const deadlinesReached = (position: Position, waitMs: number) =>
    readModels.progress.reached('deadlines', position, waitMs);
  const recheck = new RecheckJob({
    ...following,
    shipments,
    settings: workspaceSettings,
    rechecks: workspaceSettings.rechecks,
    unsettledShipments: workList,
    readModelsReached: deadlinesReached,
    afterRelease: new ReleaseRecheck({
      eventStore,
      rechecks: workspaceSettings.rechecks,
      workspaces: workList,
      readModelsReached: deadlinesReached,
    }),
  });
  if (!isPassive) void readModels.ready.then(() => recheck.job.start());
  shutdown.add('re-checks', () => recheck.job.stop());
  const cleaning = documentJobs({ ...following, readModels, shipments });
  if (!isPassive) cleaning.start();
  shutdown.add('documents', () => cleaning.stop());
  await broker.ensureTopics([SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_TOPICS]);
  const events = eventOperations(eventStore, addresses);
  const publishedEvents = new PublishedEvents(readModels, makeEventsBy(events));
  const webhooks = await Webhooks.start({
    ...storage,
    eventLog: publishedEvents.log,
    outbound,
    secretsKey: sealing,
    clock,
    random: Math.random,
    logger,
    metrics,
    settings: { addresses, timeoutMs, recoveryAfterMs, failingAfterMs, policy, retention },
    passive: isPassive,
  });
  shutdown.add('webhooks', () => webhooks.stop());
  const readModelsReached = (position: Position, waitMs: number) => readModels.allReached(position, waitMs);
  const publisher = Publisher.start({ ...following, readModelsReached, addresses });
  shutdown.add('publisher', () => publisher.stop());
  return { identity, workspaceSettings, shipments, readModels, webhooks, events, publishedEvents };
}
