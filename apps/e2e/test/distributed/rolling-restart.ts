import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Shipment } from '@tracking/contracts';
import { SERVICE_NAMES } from '@tracking/system';
import { eventually } from '@tracking/testing';
import { LoadGenerator } from '../load.ts';
import { setUpServicesWithReceiver } from './services-with-receiver.ts';

interface LogRecord {
  readonly level: string;
  readonly service: string;
  readonly msg: string;
}

export function testRollingRestart(): void {
  const stage = setUpServicesWithReceiver();

  /** Returns the log lines of the services with these levels, from start to end. */
  async function readLogLines(...levels: readonly string[]): Promise<readonly string[]> {
    const own = (await readdir(stage.services.folder)).filter((name) =>
      SERVICE_NAMES.some((service) => new RegExp(`^${service}-\\d+\\.log$`).test(name)),
    );
    expect(own).toHaveLength(2 * SERVICE_NAMES.length);
    const texts = await Promise.all(own.map((name) => readFile(join(stage.services.folder, name), 'utf8')));
    const lines = texts.flatMap((text) => text.split('\n').filter((line) => line.startsWith('{')));
    return lines.filter((line) => levels.includes((JSON.parse(line) as LogRecord).level));
  }

  test('a rolling restart loses no event, and no service logs a warning, even at the start and the end', async () => {
    const load = new LoadGenerator(stage.tenant.api, 3, 100);
    const expectWritesToContinue = async () => {
      const before = load.acknowledged;
      await eventually(() => expect(load.acknowledged).toBeGreaterThan(before + 20), { deadlineMs: 60_000 });
    };
    for (const service of SERVICE_NAMES) {
      for (const { process: replica } of stage.services.system.services[service]) {
        await expectWritesToContinue();
        await replica.stop();
        await replica.start();
      }
    }
    await expectWritesToContinue();
    await load.stop();
    expect(load.unexpected).toEqual([]);
    await eventually(
      async () => {
        const told = new Set([...stage.hook.came.keys()]);
        for (const { id } of load.shipments.values()) {
          const { data } = await stage.tenant.api.get(`/v1/events`, { params: { shipment_id: id, limit: 200 } });
          const events = (data as { data: Shipment[] }).data;
          expect(events.length).toBeGreaterThan(0);
          expect(events.filter((event) => !told.has(event.id))).toEqual([]);
        }
      },
      { deadlineMs: 60_000 },
    );
    await stage.services.system.stop();
    expect(stage.services.deaths).toEqual([]);
    expect(await readLogLines('warn', 'error', 'fatal')).toEqual([]);
  }, 300_000);
}
