import {
  checkMongoServerAccess,
  type LeaseClock,
  LeaseMemberObserver,
  MongoConnection,
  MongoDocumentStore,
  SYSTEM_LEASE_CLOCK,
} from '@tracking/distributed';
import {
  type CollectionSpec,
  type Document,
  type DocumentStore,
  type LeaseMember,
  type Logger,
  UnavailableError,
} from '@tracking/ports';
import { ServiceProcess } from '@tracking/service';
import { type ServiceUpdateTurnConfig, SERVICE_UPDATE_ORDER, type UpdatedService } from './config.ts';

export const RELEASES_COLLECTION_SPEC: CollectionSpec = { name: 'releases', indexes: [] };
/** Number of releases that are kept. A release that has been removed counts as set up again after its next set-up. */
const MAX_REMEMBERED_SET_UP_RELEASES = 100;
/** Limit of a read. Set-ups that run at the same time can store more releases than are kept. */
const SOFTWARE_RELEASES_PER_READ = 2 * MAX_REMEMBERED_SET_UP_RELEASES;
const LOG_INTERVAL_MS = 30_000;
/**
 * Milliseconds after which a service does not wait any longer for a service without a process, such as one that is
 * scaled to zero. Processes of another release that crashed together restart earlier.
 */
const MAX_WAIT_FOR_ABSENT_SERVICE_MS = 30_000;

/** A release whose set-up is complete. */
interface CompletedReleaseSetupDocument extends Document {
  /**
   * Increases with each release that is set up for the first time. Releases that are set up at the same time can get the
   * same number. Their ids then determine the order.
   */
  readonly number: number;
}

/** Records that the set-up of a release is complete. Can be repeated. @throws UnavailableError */
export async function recordCompletedSetUp(store: DocumentStore, release: string): Promise<void> {
  const documents = await store.collection<CompletedReleaseSetupDocument>(RELEASES_COLLECTION_SPEC);
  const known = await documents.find({ filter: {}, limit: SOFTWARE_RELEASES_PER_READ });
  if (known.some(({ id }) => id === release)) return;
  const number = Math.max(0, ...known.map((one) => one.number)) + 1;
  await documents.insert({ id: release, number });
  for (const one of known) if (one.number <= number - MAX_REMEMBERED_SET_UP_RELEASES) await documents.delete(one.id);
}

/** Something that has to happen before a service may start. */
interface ServiceStartObstacle {
  /** Service that has to run this release only; `setup` if its set-up is not complete. */
  readonly waitingFor: UpdatedService | 'setup' | 'document store';
  /** Names of the processes that have to end. Empty if no process of the service runs. */
  readonly members?: readonly string[];
}

/** Release and service of a process that is to start. */
interface PlannedProcessStart {
  readonly service: UpdatedService;
  readonly release: string;
}

/** Releases whose set-up is complete, and the live members of all services. */
interface CompletedReleasesAndLiveMembers {
  readonly releases: readonly CompletedReleaseSetupDocument[];
  readonly members: readonly LeaseMember[];
}

/**
 * Finds what a service has to wait for; undefined if it may start. In an update, each service waits until the service
 * before it runs only this release. If processes of a later release run, this release is being returned to, or a process
 * of it restarts while it is being replaced. Then the order is reversed.
 */
function explainWaitBeforeStart(
  { service, release }: PlannedProcessStart,
  { releases, members }: CompletedReleasesAndLiveMembers,
): ServiceStartObstacle | undefined {
  const membersOf = (name: UpdatedService) => members.filter((member) => member.name.startsWith(`${name}@`));
  // The order was kept when that process started.
  if (membersOf(service).some((member) => member.release === release)) return undefined;
  const order = releases
    .toSorted((one, other) => one.number - other.number || (one.id < other.id ? -1 : 1))
    .map(({ id }) => id);
  if (!order.includes(release)) return { waitingFor: 'setup' };
  const isLater = (member: LeaseMember) => order.indexOf(member.release ?? '') > order.indexOf(release);
  const step = SERVICE_UPDATE_ORDER.some((name) => membersOf(name).some(isLater)) ? 1 : -1;
  const other = SERVICE_UPDATE_ORDER[SERVICE_UPDATE_ORDER.indexOf(service) + step];
  if (other === undefined) return undefined;
  const others = membersOf(other);
  const outdated = others.filter((member) => member.release !== release);
  if (others.length > 0 && outdated.length === 0) return undefined;
  return { waitingFor: other, members: outdated.map(({ name }) => name) };
}

interface WaitBeforeStartOptions extends PlannedProcessStart {
  readonly store: DocumentStore;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly time?: LeaseClock;
}

/** Waits until a process may start, or until the signal aborts, and logs what it waits for every 30 s. */
export async function waitUntilProcessMayStart(options: WaitBeforeStartOptions): Promise<void> {
  const { service, release, store, logger, signal, time = SYSTEM_LEASE_CLOCK } = options;
  const observer = new LeaseMemberObserver(store, time);
  const observe = async (): Promise<CompletedReleasesAndLiveMembers> => {
    const documents = await store.collection<CompletedReleaseSetupDocument>(RELEASES_COLLECTION_SPEC);
    const releases = await documents.find({ filter: {}, limit: SOFTWARE_RELEASES_PER_READ });
    return { releases, members: await observer.listLiveMembers() };
  };
  let last = { reason: '', since: 0, loggedAt: 0 };
  while (!signal.aborted) {
    const obstacle = await observe().then(
      (observation) => explainWaitBeforeStart(options, observation),
      convertUnavailableErrorToStartObstacle,
    );
    if (obstacle === undefined) return logger.info({ release }, `${service} may start`);
    const now = time.now();
    const { waitingFor, members } = obstacle;
    const isAbsent = members?.length === 0;
    const reason = isAbsent ? `no process of ${waitingFor} runs` : waitingFor;
    if (reason !== last.reason) last = { reason, since: now, loggedAt: -Infinity };
    if (isAbsent && now - last.since >= MAX_WAIT_FOR_ABSENT_SERVICE_MS) {
      return logger.info({ release, reason }, `${service} may start without waiting`);
    }
    if (now - last.loggedAt >= LOG_INTERVAL_MS) {
      last = { ...last, loggedAt: now };
      logger.info({ release, waiting_for: waitingFor, members }, `${service} waits for its turn in the update`);
    }
    await observer.pauseBetweenLeaseMemberReads(signal);
  }
}

function convertUnavailableErrorToStartObstacle(error: unknown): ServiceStartObstacle {
  if (error instanceof UnavailableError) return { waitingFor: 'document store' };
  throw error;
}

/**
 * Waits before a service starts, so that an update of all services at once replaces them in order. A process without a
 * release does not wait. If it is stopped, it exits with status 1, so that the service does not start.
 */
export async function waitUntilUpdateOrderAllowsServiceStart(config: ServiceUpdateTurnConfig): Promise<void> {
  const starting = await ServiceProcess.start('setup', config);
  const { logger, metrics, shutdown, release } = starting;
  if (release === undefined) logger.info({}, `${config.service} may start, because RELEASE is not set`);
  else {
    const connection = new MongoConnection({ ...config.mongo, metrics });
    shutdown.addShutdownStep('document store', () => connection.closeConnection());
    starting.stopProcessIfEngineRefuses('MONGODB_URL', () => checkMongoServerAccess(connection));
    const store = new MongoDocumentStore(connection);
    const stopping = new AbortController();
    shutdown.addShutdownStep('turn', () => Promise.resolve(stopping.abort()));
    await waitUntilProcessMayStart({ service: config.service, release, store, logger, signal: stopping.signal });
    if (stopping.signal.aborted) return shutdown.exitWithFailure();
  }
  await shutdown.runShutdownSteps();
  process.exit(0);
}
