import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventEnvelope } from '@tracking/contracts';
import { SERVICE_NAMES } from '@tracking/system';
import { createTempFolder, eventually, scaleTimeout, type TempFolder } from '@tracking/testing';
import { LoadGenerator } from '../load.ts';
import { buildPreviousCommit } from '../previous-build.ts';
import { runCli } from '../subject.ts';
import { listAllItems } from '../tenant.ts';
import { setUpServicesWithReceiver } from './services-with-receiver.ts';

interface LogRecord {
  readonly level: string;
  readonly service: string;
  readonly msg: string;
}

/** Beginning of the warning of an older process about a read model that a newer process of another version built. */
const NEWER_READ_MODEL_WARNING = 'a later version of the program built this read model';
/** Order in which services learn the events of a new version, as docs/reference/running.md says. */
const SERVICE_UPGRADE_ORDER = ['projections', 'shipments', 'webhooks', 'gateway'] as const;

/** Without the previous commit, as in a shallow clone, all services keep their build. */
export function declareRollingUpgradeTests(): void {
  let builds: TempFolder | undefined;
  const stage = setUpServicesWithReceiver(async () => {
    builds = await createTempFolder();
    const previous = await buildPreviousCommit(builds.path);
    return previous === undefined ? {} : { buildRoot: previous.root };
  });
  afterAll(() => builds?.remove());

  /** Returns the log lines of the services with these levels, from start to end, without that of newer read models. */
  async function readLogLines(...levels: readonly string[]): Promise<readonly string[]> {
    const own = (await readdir(stage.services.folder)).filter((name) =>
      SERVICE_NAMES.some((service) => new RegExp(`^${service}-\\d+\\.log$`).test(name)),
    );
    expect(own).toHaveLength(2 * SERVICE_NAMES.length);
    const texts = await Promise.all(own.map((name) => readFile(join(stage.services.folder, name), 'utf8')));
    const lines = texts.flatMap((text) => text.split('\n').filter((line) => line.startsWith('{')));
    return lines.filter((line) => {
      const { level, msg } = JSON.parse(line) as LogRecord;
      return levels.includes(level) && !msg.startsWith(NEWER_READ_MODEL_WARNING);
    });
  }

  test(
    'an upgrade from the previous commit, and new partitions, lose no event, and log no warning',
    async () => {
      const load = new LoadGenerator(stage.tenant.gateways, 3, 100);
      const expectWritesToContinue = async () => {
        const before = load.acknowledged;
        await eventually(() => expect(load.acknowledged).toBeGreaterThan(before + 20), { deadlineMs: 60_000 });
      };
      await expectWritesToContinue();
      const { system } = stage.services;
      // Like the pods of Kubernetes, all services wait for their turn before the set-up runs.
      const turns = await Promise.all(SERVICE_UPGRADE_ORDER.map((service) => system.upgrade.startTurn(service)));
      await system.upgrade.runSetup();
      for (const [index, service] of SERVICE_UPGRADE_ORDER.entries()) {
        expect(await turns[index]?.exitCode).toBe(0);
        expect(turns.map((turn) => turn.hasEnded())).toEqual(turns.map((_, at) => at <= index));
        for (const replica of system.services[service]) {
          await expectWritesToContinue();
          await replica.upgradeReplica();
        }
      }
      await expectWritesToContinue();
      for (const subscriber of ['publisher', 'shipments', 'published_events']) {
        for (const partitions of ['4', '16']) {
          await runCli(stage.services, 'partitions', 'set', subscriber, partitions);
          await expectWritesToContinue();
        }
      }
      await load.stopLoad();
      expect(load.unexpected).toEqual([]);
      expect(load.maxFailuresInARow).toBeLessThanOrEqual(1);
      await eventually(
        async () => {
          const deliveredIds = new Set(stage.hook.came.keys());
          for (const { id } of load.shipments.values()) {
            const events = await listAllItems<EventEnvelope>(stage.tenant.api, '/v1/events', { shipment_id: id });
            expect(events.length).toBeGreaterThan(0);
            expect(events.filter((event) => !deliveredIds.has(event.id))).toEqual([]);
          }
        },
        { deadlineMs: 60_000 },
      );
      await system.stopSystem();
      expect(stage.services.deaths).toEqual([]);
      expect(await readLogLines('warn', 'error', 'fatal')).toEqual([]);
    },
    scaleTimeout(300_000),
  );
}
