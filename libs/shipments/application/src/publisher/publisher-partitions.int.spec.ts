import type {
  EventStore,
  Lease,
  Leases,
  LeaseSource,
  LeaseGroupMembership,
  MessageBroker,
  StoredEvent,
} from '@tracking/ports';
import { LeaseDistributor } from '@tracking/resilience';
import { PartitionCountManager } from '@tracking/subscriptions';
import { eventually, noMetrics, silentLogger } from '@tracking/testing';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { PublishingTestHarness } from '../../test/publishing-test-harness.ts';
import { PUBLISHER_SUBSCRIBER_NAME, type PublisherOptions } from './publisher.ts';

const PARTITION_POLL_MS = 20;
/** Last step at which a process dies. A change of the partitions has fewer steps. */
const MAX_CRASH_STEP = 60;
const DEADLINE = { deadlineMs: 20_000 };

/** A process that shares the leases of the publisher with others. */
interface SharingProcess {
  readonly process: SimulatedKillableProcess;
  /** Names of the leases that the process holds. */
  held(): readonly string[];
  stop(): Promise<void>;
  /** Ends the process without any further effect. Its leases end as if their time to live was over. */
  kill(): Promise<void>;
}

describe('a publisher with partitions', () => {
  let harness: PublishingTestHarness;
  let counts: PartitionCountManager;
  let leases: Leases;
  let shipments: string[];
  beforeEach(async () => {
    harness = await PublishingTestHarness.openPublishingHarness();
    counts = new PartitionCountManager(harness.documentStore, [PUBLISHER_SUBSCRIBER_NAME]);
    leases = harness.createLeasesOfNextProcess();
    shipments = [];
  });
  afterEach(() => harness.closePublishingHarness());

  /** Creates shipments, and records a milestone of every shipment. */
  async function write(created: number): Promise<void> {
    shipments.push(...(await Promise.all(Array.from({ length: created }, () => harness.createShipment()))));
    await Promise.all(shipments.map((id) => harness.recordMilestone(id)));
  }

  /** Returns the ids of the published events of each shipment, in the order of the topic. */
  async function readPublished(): Promise<Map<string, string[]>> {
    const published = new Map<string, string[]>();
    for (const { key, headers } of await harness.waitForPublishedAnnouncements()) {
      published.set(key, [...(published.get(key) ?? []), headers['event-id'] ?? '']);
    }
    return published;
  }

  async function readAnnounced(): Promise<Map<string, string[]>> {
    const announced = new Map<string, string[]>();
    for (const { id, data } of await harness.computeAnnouncementsOfStoredEvents()) {
      const shipment = String(data['shipment_id']);
      announced.set(shipment, [...(announced.get(shipment) ?? []), id]);
    }
    return announced;
  }

  /** Expects each event on the topic once, in the order of each shipment. */
  async function expectPublishedOnce(): Promise<void> {
    expect(await readPublished()).toEqual(await readAnnounced());
  }

  /** Expects each event on the topic, in the order of each shipment. A killed process may have published it before. */
  async function expectPublishedInOrder(): Promise<void> {
    const distinct = [...(await readPublished())].map(([shipment, ids]) => [shipment, [...new Set(ids)]] as const);
    expect(new Map(distinct)).toEqual(await readAnnounced());
  }

  async function changeTo(partitions: number): Promise<void> {
    await counts.requestPartitionCountChange(PUBLISHER_SUBSCRIBER_NAME, partitions);
    const changed = { subscriber: PUBLISHER_SUBSCRIBER_NAME, partitions, requested: partitions };
    await eventually(async () => expect(await counts.listPartitionCountPerSubscriber()).toEqual([changed]), DEADLINE);
  }

  function startSharing(
    options: Partial<PublisherOptions> = {},
    process: SimulatedKillableProcess = new SimulatedKillableProcess(),
  ): SharingProcess {
    const held = new Set<Lease>();
    let isKilled = false;
    let membership: LeaseGroupMembership | undefined;
    const joinLeaseGroup: Leases['joinLeaseGroup'] = (about) => {
      const own = leases.joinLeaseGroup(about);
      membership = { ...own, announceMember: (wanted) => (process.dead ? undefined : own.announceMember(wanted)) };
      Object.defineProperty(membership, 'members', { get: () => own.members });
      return membership;
    };
    const ownLeases: Leases = {
      joinLeaseGroup,
      acquireLease: (name, signal) => leases.acquireLease(name, signal),
      listHeldLeases: () => leases.listHeldLeases(),
      close: () => leases.close(),
    };
    const member = { name: 'shipments' };
    const group = new LeaseDistributor({
      leases: ownLeases,
      member,
      logger: silentLogger,
      metrics: noMetrics,
    }).getOrCreateLeaseGroup('all');
    const source: LeaseSource = {
      acquireLease: async (name, signal) => {
        const lease = await group.acquireLease(name, signal);
        if (isKilled) await lease.releaseLease();
        held.add(lease);
        lease.lost.addEventListener('abort', () => held.delete(lease), { once: true });
        return lease;
      },
    };
    const { publisher } = harness.startPublisher(
      { leases: source, partitions: 16, partitionPollMs: PARTITION_POLL_MS, ...options },
      process,
    );
    return {
      process,
      held: () => [...held].map(({ name }) => name),
      stop: async () => {
        await publisher.stop();
        await membership?.removeOwnMember();
        process.dead = true;
      },
      kill: async () => {
        process.dead = true;
        isKilled = true;
        await Promise.all([...held].map((lease) => lease.releaseLease()));
        await membership?.removeOwnMember();
      },
    };
  }

  const expectShares = (processes: readonly SharingProcess[], shares: readonly number[]) =>
    eventually(() => expect(processes.map((each) => each.held().length)).toEqual(shares), DEADLINE);

  it('continues where one partition of an earlier release ended, and publishes nothing again', async () => {
    const former = harness.startPublisher({ leases });
    await write(20);
    await harness.waitForPublishedAnnouncements();
    await former.publisher.stop();
    await write(5);
    const process = startSharing();
    await write(5);
    await expectPublishedOnce();
    // The lease of the earlier release is the seventeenth.
    expect(process.held()).toHaveLength(17);
    expect(await counts.listPartitionCountPerSubscriber()).toEqual([
      { subscriber: PUBLISHER_SUBSCRIBER_NAME, partitions: 16, requested: 16 },
    ]);
  });

  it('changes the number of partitions under load, and publishes nothing again', async () => {
    const processes = [startSharing(), startSharing()];
    await write(10);
    for (const partitions of [4, 32, 1, 2, 16]) {
      const writing = write(5);
      await changeTo(partitions);
      await writing;
      const total = () => processes.reduce((sum, each) => sum + each.held().length, 0);
      await eventually(() => expect(total()).toBe(partitions), DEADLINE);
    }
    await expectPublishedOnce();
  }, 60_000);

  it('replaces processes of an earlier release without failures in them', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_fields: object, text: string) => void warnings.push(text) };
    const former = harness.startPublisher({ leases, logger });
    await write(10);
    await harness.waitForPublishedAnnouncements();
    const process = startSharing();
    await former.publisher.stop();
    await expectShares([process], [17]);
    const waiting = harness.startPublisher({ leases, logger });
    await write(10);
    await expectPublishedOnce();
    await waiting.publisher.stop();
    expect(warnings).toEqual([]);
  });

  it('publishes all events again in partitions after the broker has lost its log', async () => {
    let lost = 0;
    const broker = Object.assign(Object.create(harness.broker) as MessageBroker, {
      countPublishedMessages: async (topic: string) => {
        const counts = await harness.broker.countPublishedMessages(topic);
        return counts.map((count) => count - lost);
      },
    });
    startSharing({ broker, logCheckIntervalMs: 5 });
    await write(10);
    const before = await readPublished();
    lost = 1_000;
    const repeated = new Map([...before].map(([shipment, ids]) => [shipment, [...ids, ...ids]]));
    await eventually(async () => expect(await readPublished()).toEqual(repeated), DEADLINE);
  });

  it('returns to one partition, which an earlier release continues', async () => {
    const process = startSharing();
    await write(10);
    await harness.waitForPublishedAnnouncements();
    await changeTo(1);
    await process.stop();
    await write(5);
    harness.startPublisher({ leases });
    await write(5);
    await expectPublishedOnce();
  });

  it('does not let a process of an earlier release publish beside the partitions', async () => {
    startSharing();
    await write(10);
    await harness.waitForPublishedAnnouncements();
    const former = harness.startPublisher({ leases: harness.createLeasesOfNextProcess() });
    await write(10);
    await expectPublishedOnce();
    expect(former.metrics.getMetricValue('publisher_events_published_total{type="milestone.recorded"}')).toBe(0);
  });

  it('keeps shipments parked over a change of the partitions', async () => {
    await write(3);
    let faulty = shipments[0]?.replace(/^shp_/, 'shipment-');
    const damage = (events: readonly StoredEvent[]) =>
      events.map((event) => (event.stream === faulty ? { ...event, data: {} } : event));
    const eventStore = Object.assign(Object.create(harness.eventStore) as EventStore, {
      read: async (...range: Parameters<EventStore['read']>) => damage(await harness.eventStore.read(...range)),
      catchUp: async function* (options: Parameters<EventStore['catchUp']>[0]) {
        for await (const batch of harness.eventStore.catchUp(options)) yield { ...batch, events: damage(batch.events) };
      },
    });
    const { publisher } = harness.startPublisher({
      leases,
      eventStore,
      partitions: 16,
      partitionPollMs: PARTITION_POLL_MS,
    });
    await eventually(async () => expect(await publisher.listParkedStreams()).toHaveLength(1), DEADLINE);
    await changeTo(4);
    await harness.recordMilestone(shipments[0] ?? '');
    await harness.recordMilestone(shipments[1] ?? '');
    const [parked] = await publisher.listParkedStreams();
    expect(parked?.partition).toMatch(/^v2\.shipment-/);
    faulty = undefined;
    // The new owner of the partition also retries its streams once, possibly while the event is still faulty.
    const retryParked = () => publisher.retryParkedStream(parked?.id ?? '');
    await eventually(async () => expect(['applied', 'not_found']).toContain(await retryParked()), DEADLINE);
    await expectPublishedOnce();
  });

  it('shares partitions among 1, 2 and 1 processes, and loses nothing when one is killed', async () => {
    const first = startSharing();
    await write(20);
    await expectShares([first], [16]);
    const second = startSharing();
    await expectShares([first, second], [8, 8]);
    await write(10);
    // Partitions are handed over in order, so that nothing is published again.
    await expectPublishedOnce();
    const writing = write(10);
    await first.kill();
    await writing;
    await expectShares([second], [16]);
    await write(5);
    await expectPublishedInOrder();
  });

  it('loses nothing and keeps the order when processes die at every step of a change', async () => {
    for (let step = 1; step <= MAX_CRASH_STEP; step += 3) {
      await counts.requestPartitionCountChange(PUBLISHER_SUBSCRIBER_NAME, step % 2 === 0 ? 4 : 16);
      const { process, kill } = startSharing({}, new SimulatedKillableProcess(step, step % 4 < 2));
      await write(1);
      while (!process.dead) await harness.recordMilestone(shipments[0] ?? '');
      await kill();
    }
    startSharing();
    await write(1);
    await expectPublishedInOrder();
  }, 120_000);
});
