import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DistributedSystem } from '@tracking/system';
import { BareFiles, Documents, SampleFile, type FilePlace } from './file-places.ts';
import { cpuSeconds, residentMiB } from './machine.ts';
import { runCli, runRemoteCli, startFiles, startStandalone } from './server.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const NEW_KEY = ['keys', 'create', '--name', 'bench', '--environment', 'test', '--role', 'developer'];
const CONCURRENCY = 10;
/** Number of alternating turns, so that other load on the machine affects all subjects alike. */
const TURNS = 3;

/** One of the compared servers. */
interface Subject {
  readonly name: string;
  readonly place: FilePlace;
  /** The process that serves clients, whose memory is measured, and all other processes that take part. */
  readonly pid: number;
  readonly others: readonly number[];
}

/** Sums over all turns. */
class Totals {
  mib = 0;
  seconds = 0;
  cpu = 0;
  mostMiB = 0;
}

/**
 * Uploads and downloads files of this size, one by one and ten concurrently: with a bare stream to disk, standalone,
 * and GridFS.
 */
export async function benchDocuments(mib: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-documents-'));
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const bare = await startFiles(folder);
    stops.push(() => bare.stop());
    const dataDir = join(folder, 'standalone');
    const standalone = await startStandalone(dataDir);
    stops.push(() => standalone.stop());
    const key = await runCli(dataDir, ...NEW_KEY);
    const subjects: Subject[] = [
      { name: 'bare Fastify', place: new BareFiles(bare.url), pid: bare.pid, others: [] },
      { name: 'standalone', place: await Documents.open(standalone.url, key), pid: standalone.pid, others: [] },
    ];
    const services = await startServices(join(folder, 'services'));
    if (services === undefined) print('GridFS: not measured, because there are no engines (ENGINES_DIR)');
    else {
      stops.push(() => services.system.stopSystem());
      subjects.push(services.subject);
    }
    await compare(subjects, new SampleFile(mib));
  } finally {
    for (const stop of stops) await stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startServices(folder: string): Promise<{ system: DistributedSystem; subject: Subject } | undefined> {
  const { EVENTSTOREDB_URL, KAFKA_BROKERS, MONGODB_URL, ENGINES_DIR = '../shared/engines' } = process.env;
  if (!existsSync(ENGINES_DIR) && MONGODB_URL === undefined) return undefined;
  const system = await DistributedSystem.startSystem({
    folder,
    enginesDir: ENGINES_DIR,
    eventStoreDbUrl: EVENTSTOREDB_URL,
    kafkaBrokers: KAFKA_BROKERS,
    mongoUrl: MONGODB_URL,
    env: { RATE_LIMIT_PER_MINUTE: '1000000000' },
  });
  const { services, engines, administration } = system;
  const place = await Documents.open(system.urls[0] ?? '', await runRemoteCli(administration, NEW_KEY));
  const others = engines.mongo?.pid === undefined ? [] : [engines.mongo.pid];
  const subject = { name: 'gateway, GridFS', place, pid: services.gateway[0]?.process.pid ?? 0, others };
  return { system, subject };
}

async function compare(subjects: readonly Subject[], file: SampleFile): Promise<void> {
  for (const subject of subjects) await runTurn(subject, file, 1, [new Totals(), new Totals()]);
  for (const atOnce of [1, CONCURRENCY]) {
    const measured = subjects.map((subject) => ({ subject, totals: [new Totals(), new Totals()] as const }));
    for (let n = 0; n < TURNS; n += 1) {
      for (const { subject, totals } of measured) await runTurn(subject, file, atOnce, totals);
    }
    print(`-- ${file.mib} MiB, ${atOnce} concurrently`);
    for (const [index, what] of ['upload', 'download'].entries()) {
      const first = measured[0]?.totals[index];
      for (const { subject, totals } of measured) {
        const own = totals[index] ?? new Totals();
        const rate = own.mib / own.seconds;
        const ofFirst =
          first === undefined || first === own ? '' : `  ${((rate * first.seconds) / first.mib).toFixed(2)}`;
        const cpu = `CPU ${((own.cpu * 1_024) / own.mib).toFixed(2)} s/GiB`;
        print(
          `${what.padEnd(9)} ${subject.name.padEnd(16)} ${rate.toFixed(0).padStart(5)} MiB/s  ${cpu}  ` +
            `memory maximum ${own.mostMiB.toFixed(0)} MiB${ofFirst}`,
        );
      }
    }
  }
}

/** Uploads this many files, downloads them, and deletes them. */
async function runTurn(
  subject: Subject,
  file: SampleFile,
  atOnce: number,
  [up, down]: readonly [Totals, Totals],
): Promise<void> {
  const { place } = subject;
  const each = <T>(work: (n: number) => Promise<T>) => Promise.all(Array.from({ length: atOnce }, (_, n) => work(n)));
  const mib = atOnce * file.mib;
  const names = await measureFileTransfer(subject, mib, up, () => each(() => place.upload(file)));
  await measureFileTransfer(subject, mib, down, () => each((n) => place.download(names[n] ?? '')));
  for (const name of names) await place.remove(name);
}

async function measureFileTransfer<T>(
  { pid, others }: Subject,
  mib: number,
  totals: Totals,
  work: () => Promise<T>,
): Promise<T> {
  const cpu = () => [pid, ...others].reduce((sum, one) => sum + cpuSeconds(one), 0);
  const look = () => (totals.mostMiB = Math.max(totals.mostMiB, residentMiB(pid)));
  const looking = setInterval(look, 20);
  const [cpuBefore, began] = [cpu(), performance.now()];
  const result = await work().finally(() => clearInterval(looking));
  look();
  totals.seconds += (performance.now() - began) / 1_000;
  totals.cpu += cpu() - cpuBefore;
  totals.mib += mib;
  return result;
}
