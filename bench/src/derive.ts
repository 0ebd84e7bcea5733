import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EMPTY_SHIPMENT_FIELDS, type Milestone, type PlaceLookup, type ShipmentRecord } from '@tracking/contracts';
import { computeMedian } from './load.ts';
import { machine } from './machine.ts';

/** The derivation of one version of the project. */
interface Version {
  readonly places: PlaceLookup;
  deriveShipment(basis: Basis, places: PlaceLookup): { readonly record: ShipmentRecord };
}
interface Basis {
  readonly record: ShipmentRecord;
  readonly timeline: readonly { readonly milestone: Pick<Milestone, 'location'> }[];
  readonly [field: string]: unknown;
}
type Step = readonly [code: string, hour: number, location: string, classifier?: Milestone['classifier']];

const ROUNDS = 30;
const WARM_UP_ROUNDS = 4;
/** Ports of the routes that each version derives for the first time. */
const PORTS = 'CNSHA CNNGB SGSIN KRPUS HKHKG NLRTM BEANR DEHAM USLAX USNYC BRSSZ JPTYO JPYOK AEJEA ESVLC GBFXT'.split(
  ' ',
);
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 1);
const CONTAINERS = ['MSCU1234566', 'CSQU3054383'];
const SEQUENCES: Readonly<Record<string, number>> = {
  gated_in: 40,
  loaded_on_vessel: 50,
  vessel_departed: 55,
  vessel_arrived: 90,
  discharged: 100,
  gated_out: 135,
  delivered: 150,
};
const JOURNEY: readonly Step[] = [
  ['gated_in', 1, 'CNSHA'],
  ['loaded_on_vessel', 20, 'CNSHA'],
  ['vessel_departed', 30, 'CNSHA'],
  ['vessel_arrived', 420, 'USLAX', 'estimated'],
  ['vessel_arrived', 424, 'USLAX'],
  ['discharged', 430, 'USLAX'],
  ['gated_out', 480, 'USLAX'],
  ['delivered', 490, 'USLAX'],
];

/**
 * Measures the derivation of this version and of the one in the folder `BASELINE`, a built checkout of the project, in
 * alternating turns.
 */
export async function benchDerive(): Promise<void> {
  const folder = process.env['BASELINE'];
  if (folder === undefined) throw new Error('Set BASELINE to the folder of a built checkout of the other version.');
  const versions = [await loadVersion(folder), await loadVersion('.')] as const;
  process.stdout.write(`${machine()}\n`);
  const cases: Readonly<Record<string, (round: number) => readonly Basis[]>> = {
    'ordinary journey, 16 milestones': repeat(createBasis(1), 4_000),
    '4,992 milestones': repeat(createBasis(312), 20),
    'first derivations of routes, 16 milestones': createBasesOfNewRoutes,
  };
  for (const [name, list] of Object.entries(cases)) {
    const times = versions.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      const bases = list(round);
      const order = round % 2 === 0 ? [0, 1] : [1, 0];
      for (const index of order) times[index]?.push(measureDerivationCpuTime(versions[index] as Version, bases));
    }
    const [before = [], after = []] = times.map((all) => all.slice(WARM_UP_ROUNDS));
    const ratios = after.map((time, round) => time / (before[round] ?? NaN));
    const line = [name, `baseline ${computeMedian(before).toFixed(1)} µs`];
    line.push(`this version ${computeMedian(after).toFixed(1)} µs`);
    process.stdout.write(`${[...line, `median ratio ${computeMedian(ratios).toFixed(2)}`].join('  ')}\n`);
  }
}

function repeat(basis: Basis, times: number): () => readonly Basis[] {
  const bases = Array.from({ length: times }, () => basis);
  return () => bases;
}

/** Returns shipments of eight routes that no other round has. */
function createBasesOfNewRoutes(round: number): readonly Basis[] {
  const routes = PORTS.flatMap((origin) =>
    PORTS.filter((port) => port !== origin).map((port) => [origin, port] as const),
  );
  const { record, timeline, ...others } = createBasis(1);
  return routes.slice(round * 8, round * 8 + 8).map(([origin_port, destination_port]) => ({
    ...others,
    record: { ...record, origin_port, destination_port },
    timeline: timeline.map((entry) => {
      const location = entry.milestone.location === 'CNSHA' ? origin_port : destination_port;
      return { ...entry, milestone: { ...entry.milestone, location } };
    }),
  }));
}

async function loadVersion(folder: string): Promise<Version> {
  const load = (path: string) => import(pathToFileURL(join(resolve(folder), path)).href) as Promise<never>;
  const { deriveShipment } = (await load('libs/shipments/domain/dist/derive.js')) as Version;
  const { loadPlaces } = (await load('libs/adapters/places/dist/index.js')) as { loadPlaces(): Promise<PlaceLookup> };
  return { deriveShipment, places: await loadPlaces() };
}

/** Returns the microseconds of CPU time of one derivation. CPU time depends less on other load than elapsed time. */
function measureDerivationCpuTime({ deriveShipment, places }: Version, bases: readonly Basis[]): number {
  const start = process.cpuUsage();
  for (const basis of bases) deriveShipment(basis, places);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / bases.length;
}

/** Creates a shipment with milestones of its journey for each container. @param copies number of feeds that report it */
function createBasis(copies: number): Basis {
  const timeline = Array.from({ length: copies }, (_, copy) => createTimeline(copy))
    .flat()
    .toSorted(({ milestone: a }, { milestone: b }) => (a.occurred_at < b.occurred_at ? -1 : 1));
  const none = { value: null, written: 0 };
  // A baseline from before these fields ignores them.
  const scheduleOfReports = { etaAtArrival: none, firstEta: null, givenAt: new Map() };
  const droppedEstimates = new Map();
  return {
    record: {
      ...EMPTY_SHIPMENT_FIELDS,
      id: 'shp_1',
      mode: 'ocean',
      load_type: 'fcl',
      origin_port: 'CNSHA',
      destination_port: 'USLAX',
      container_numbers: CONTAINERS,
      containers: [],
      legs: [],
      atd: null,
      ata: null,
      original_eta: null,
      etd_precision: 'time',
      eta_precision: 'time',
      original_eta_precision: 'time',
      status: 'pending',
      status_milestone_id: null,
      last_milestone: null,
      open_exceptions_count: 0,
      documents_count: 0,
      created_at: new Date(START_MS).toISOString(),
      updated_at: new Date(START_MS).toISOString(),
      version: 1,
    },
    schedule: { etd: none, eta: none, legs: { value: [], written: [] }, ...scheduleOfReports },
    originalEta: { value: null, since: '' },
    timeline,
    droppedEstimates,
    cancelled: null,
    revision: 1,
    removedContainers: new Map(),
  };
}

function createTimeline(copy: number) {
  return CONTAINERS.flatMap((container_number) =>
    JOURNEY.map(([code, hour, location, classifier = 'actual'], index) => {
      const occurred_at = new Date(START_MS + hour * HOUR_MS + copy * 60_000).toISOString();
      const id = `mst_${container_number}_${copy}_${index}`;
      const content = { code, occurred_at, location, classifier, container_number, source: 'carrier', label: code };
      const others = {
        retracted_at: null,
        superseded_at: null,
        recorded_at: occurred_at,
        reported_at: occurred_at,
        external_id: id,
      };
      const milestone = { id, ...content, ...others, sequence: SEQUENCES[code] ?? 0 };
      return { milestone, recorded: index, written: index, overridden: {}, formerReports: [] };
    }),
  );
}
