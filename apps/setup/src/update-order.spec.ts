import { type VirtualCluster, VirtualProcess, VirtualTestClock } from '@tracking/distributed/testing';
import type { Document } from '@tracking/ports';
import { createRecordingLogger, type LogLine } from '@tracking/testing';
import { loadServiceUpdateTurnConfig, SERVICE_UPDATE_ORDER, type UpdatedService } from './config.ts';
import { recordCompletedSetUp, waitUntilProcessMayStart } from './update-order.ts';

/** Maximum milliseconds until a wait ends after its reason, and until a start without a wait. */
const SECONDS_MS = 3_000;
/** Milliseconds after which a killed process has ended for the others, and the wait notices it. */
const DEATH_MS = 9_000;
const ABSENCE_MS = 35_000;

/** A process that waits before its start. */
interface Waiting {
  readonly process: VirtualProcess;
  readonly lines: LogLine[];
  mayStart: boolean;
}

describe('the wait of a service for its turn in an update', () => {
  let cluster: VirtualCluster;
  let stopping: AbortController;
  let count: number;

  beforeEach(() => {
    cluster = { time: new VirtualTestClock(), documents: new Map(), random: () => 0.5, names: ['work'] };
    stopping = new AbortController();
    count = 0;
  });
  afterEach(() => stopping.abort());

  const advance = (ms: number) => cluster.time.advanceTime(ms);
  const nextName = (service: string) => `${service}@pod:${(count += 1)}`;

  /** Starts a process that runs a release; undefined for a release that does not know its id. */
  const run = (service: UpdatedService, release: string | undefined) =>
    new VirtualProcess(cluster, { name: nextName(service), ...(release !== undefined && { release }) });

  /** Starts a process of each service. */
  async function runAll(release: string | undefined): Promise<Readonly<Record<UpdatedService, VirtualProcess>>> {
    const processes = SERVICE_UPDATE_ORDER.map((service) => [service, run(service, release)] as const);
    await advance(SECONDS_MS);
    return Object.fromEntries(processes) as Record<UpdatedService, VirtualProcess>;
  }

  async function createTopicsAndIndexes(...releases: readonly string[]): Promise<void> {
    const { store } = new VirtualProcess({ ...cluster, names: [] }, 'setup');
    for (const release of releases) {
      const recording = recordCompletedSetUp(store, release);
      await advance(SECONDS_MS);
      await recording;
    }
  }

  function startWaiting(service: UpdatedService, release: string): Waiting {
    // Without leases to share, the process is no member.
    const process = new VirtualProcess({ ...cluster, names: [] }, 'waiting');
    const waiting: Waiting = { process, lines: [], mayStart: false };
    const { store, clock: time } = process;
    const logger = createRecordingLogger(waiting.lines);
    const ending = waitUntilProcessMayStart({ service, release, store, logger, signal: stopping.signal, time });
    void ending.then(() => (waiting.mayStart = !stopping.signal.aborted));
    return waiting;
  }
  const startWaitingAll = (release: string) => SERVICE_UPDATE_ORDER.map((service) => startWaiting(service, release));
  const listReady = (waiting: readonly Waiting[]) => waiting.map(({ mayStart }) => mayStart);

  it('replaces the services in order when all are updated at once, and only after the set-up', async () => {
    await createTopicsAndIndexes('first');
    const old = await runAll('first');
    const waiting = startWaitingAll('second');
    await advance(ABSENCE_MS);
    expect(listReady(waiting)).toEqual([false, false, false, false]);
    await createTopicsAndIndexes('second');
    for (const [index, service] of SERVICE_UPDATE_ORDER.entries()) {
      await advance(ABSENCE_MS);
      expect(listReady(waiting)).toEqual(SERVICE_UPDATE_ORDER.map((_, at) => at <= index));
      run(service, 'second');
      await advance(SECONDS_MS);
      void old[service].stopProcess();
      await advance(SECONDS_MS);
    }
  });

  it('starts the services in order when nothing runs', async () => {
    const waiting = startWaitingAll('first');
    await advance(ABSENCE_MS);
    expect(listReady(waiting)).toEqual([false, false, false, false]);
    await createTopicsAndIndexes('first');
    for (const [index, service] of SERVICE_UPDATE_ORDER.entries()) {
      await advance(SECONDS_MS);
      expect(listReady(waiting)).toEqual(SERVICE_UPDATE_ORDER.map((_, at) => at <= index));
      run(service, 'first');
    }
  });

  it('waits for each old process, also for one without a release, and names those that are left', async () => {
    await createTopicsAndIndexes('second');
    const [old] = [run('projections', undefined), run('projections', undefined), run('projections', 'second')];
    const waiting = startWaiting('shipments', 'second');
    await advance(65_000);
    void old.stopProcess();
    await advance(65_000);
    expect(waiting.mayStart).toBe(false);
    const line = (members: readonly string[]) => ({
      level: 'info',
      fields: { release: 'second', waiting_for: 'projections', members },
      message: 'shipments waits for its turn in the update',
    });
    const [both, one] = [['projections@pod:1', 'projections@pod:2'], ['projections@pod:2']];
    expect(waiting.lines.map(({ fields }) => (fields['members'] as string[]).toSorted())).toEqual([
      ...[both, both, both],
      ...[one, one],
    ]);
    expect(waiting.lines.at(-1)).toEqual(line(one));
  });

  it('ends after a killed old process has made no beat for its time to live, and not earlier', async () => {
    await createTopicsAndIndexes('first', 'second');
    const [old] = [run('projections', 'first'), run('projections', 'second')];
    const waiting = startWaiting('shipments', 'second');
    await advance(SECONDS_MS);
    old.simulateProcessKill();
    await advance(SECONDS_MS);
    expect(waiting.mayStart).toBe(false);
    await advance(DEATH_MS);
    expect(waiting.mayStart).toBe(true);
  });

  it.each(SERVICE_UPDATE_ORDER)(
    'does not delay a restart of %s while another process of its release runs',
    async (service) => {
      await createTopicsAndIndexes('first', 'second');
      await runAll('first');
      run(service, 'second');
      await advance(SECONDS_MS);
      const waiting = startWaiting(service, 'second');
      await advance(SECONDS_MS);
      expect(waiting.mayStart).toBe(true);
    },
  );

  it('does not delay a restart of the only process of a service after an update', async () => {
    await createTopicsAndIndexes('first', 'second');
    await runAll('second');
    for (const service of SERVICE_UPDATE_ORDER) {
      const waiting = startWaiting(service, 'second');
      await advance(SECONDS_MS);
      expect(waiting.mayStart).toBe(true);
    }
  });

  it.each(SERVICE_UPDATE_ORDER)(
    'lets the only old process of %s restart while it is being replaced',
    async (service) => {
      await createTopicsAndIndexes('first', 'second');
      const replaced = SERVICE_UPDATE_ORDER.slice(0, SERVICE_UPDATE_ORDER.indexOf(service));
      for (const each of replaced) run(each, 'second');
      for (const each of SERVICE_UPDATE_ORDER.slice(replaced.length + 1)) run(each, 'first');
      await advance(SECONDS_MS);
      const waiting = startWaiting(service, 'first');
      await advance(SECONDS_MS);
      expect(waiting.mayStart).toBe(true);
    },
  );

  it('replaces the services in the reverse order when an earlier release is installed again', async () => {
    await createTopicsAndIndexes('first', 'second', 'first');
    const current = await runAll('second');
    const waiting = startWaitingAll('first');
    const reversed = [...SERVICE_UPDATE_ORDER].reverse();
    for (const [index, service] of reversed.entries()) {
      await advance(ABSENCE_MS);
      expect(listReady(waiting).reverse()).toEqual(reversed.map((_, at) => at <= index));
      run(service, 'first');
      await advance(SECONDS_MS);
      void current[service].stopProcess();
      await advance(SECONDS_MS);
    }
  });

  it('orders two releases that were set up at the same time, so that one of them counts as the later one', async () => {
    const { store } = new VirtualProcess({ ...cluster, names: [] }, 'setup');
    const recording = Promise.all(['a', 'b'].map((release) => recordCompletedSetUp(store, release)));
    await advance(SECONDS_MS);
    await recording;
    await runAll('b');
    const waiting = startWaitingAll('a');
    await advance(ABSENCE_MS);
    expect(listReady(waiting)).toEqual([false, false, false, true]);
  });

  it('does not wait for a service that is scaled to zero', async () => {
    await createTopicsAndIndexes('first');
    const waiting = startWaiting('shipments', 'first');
    await advance(SECONDS_MS);
    expect(waiting.mayStart).toBe(false);
    await advance(ABSENCE_MS);
    expect(waiting.mayStart).toBe(true);
    expect(waiting.lines.at(-1)?.fields).toEqual({ release: 'first', reason: 'no process of projections runs' });
  });

  it('waits while the document store is unavailable, and does not mistake this for the end of processes', async () => {
    await createTopicsAndIndexes('first', 'second');
    const [old] = [run('projections', 'first'), run('projections', 'second')];
    const waiting = startWaiting('shipments', 'second');
    await advance(SECONDS_MS);
    waiting.process.isStoreAway = true;
    await advance(2 * ABSENCE_MS);
    expect(waiting.lines.at(-1)?.fields).toMatchObject({ waiting_for: 'document store' });
    waiting.process.isStoreAway = false;
    await advance(DEATH_MS);
    expect(waiting.mayStart).toBe(false);
    void old.stopProcess();
    await advance(SECONDS_MS);
    expect(waiting.mayStart).toBe(true);
  });

  it('does not count the absence of a service while the document store is unavailable', async () => {
    await createTopicsAndIndexes('first');
    const waiting = startWaiting('gateway', 'first');
    await advance(ABSENCE_MS / 2);
    waiting.process.isStoreAway = true;
    await advance(ABSENCE_MS);
    waiting.process.isStoreAway = false;
    await advance(ABSENCE_MS / 2);
    expect(waiting.mayStart).toBe(false);
    await advance(ABSENCE_MS / 2);
    expect(waiting.mayStart).toBe(true);
  });

  it('keeps the latest 100 releases', async () => {
    await createTopicsAndIndexes(...Array.from({ length: 102 }, (_, at) => `release-${at}`));
    await createTopicsAndIndexes('release-101');
    const stored = [...(cluster.documents.get('releases')?.values() ?? [])] as (Document & { number: number })[];
    expect(stored.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => `release-${at + 2}`));
    expect(stored.at(-1)).toEqual({ id: 'release-101', number: 102 });
  });
});

describe('the arguments of the wait', () => {
  const env = { MONGODB_URL: 'mongodb://127.0.0.1/', RELEASE: 'first', MANAGEMENT_PORT: '9464' };

  it('name a service, and need only the settings of the document store', () => {
    expect(loadServiceUpdateTurnConfig('webhooks', env)).toMatchObject({
      service: 'webhooks',
      release: 'first',
      managementPort: 0,
    });
    expect(() => loadServiceUpdateTurnConfig('webhooks', {})).toThrow('MONGODB_URL is not set');
  });

  it.each([undefined, 'setup', 'mcp'])('are refused for the service %s', (service) => {
    expect(() => loadServiceUpdateTurnConfig(service, env)).toThrow(
      'expected one of projections, shipments, webhooks, gateway',
    );
  });
});
