import type { MilestoneSource, ClientShipmentFields, Timestamp } from '@tracking/contracts';
import { container } from './api.ts';

/** A shipment with the milestones that client systems and feeds have sent by now. */
interface Journey {
  /** Time at which the shipment was created. */
  readonly at: Timestamp;
  readonly fields: Partial<ClientShipmentFields>;
  /** Oldest first. */
  readonly milestones: readonly JourneyMilestone[];
}
interface JourneyMilestone {
  readonly code: string;
  readonly occurred_at: Timestamp;
  readonly location: string | null;
  readonly source: MilestoneSource;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PORTS = [
  ['CNSHA', 'CNNGB', 'CNYTN', 'SGSIN', 'VNSGN', 'INNSA', 'KRPUS', 'JPYOK', 'BRSSZ', 'USLAX'],
  ['NLRTM', 'DEHAM', 'BEANR', 'GBFXT', 'FRLEH', 'ESVLC', 'ITGOA', 'PLGDN', 'USNYC', 'USSAV'],
] as const;
const CARRIERS = {
  ocean: ['MAEU', 'MSCU', 'CMDU', 'HLCU', 'ONEY', 'EGLV', 'COSU', 'YMLU', 'HDMU', 'ZIMU'],
  air: ['LH', 'EK', 'CX', 'QR'],
  road: ['SNLU', 'DSVF', 'GIRT'],
  rail: ['DBCG', 'PKPC'],
} as const;
/** Three quarters by sea, more than a tenth by air. */
const MODES_BY_SHARE = [
  ...Array<'ocean'>(30).fill('ocean'),
  ...Array<'air'>(6).fill('air'),
  'road',
  'road',
  'road',
  'rail',
] as const;
const NAMES = ['Acme', 'Widget', 'Globex', 'Initech', 'Umbrella', 'Stark', 'Wayne', 'Tyrell', 'Hooli', 'Vandelay'];
const TRADES = ['Components', 'Trading', 'Imports', 'Textiles', 'Foods', 'Machinery', 'Chemicals', 'Furniture'];
const VESSELS = ['Ever Ace', 'Maersk Honam', 'MSC Oscar', 'CMA CGM Jacques Saade', 'HMM Algeciras', 'ONE Innovation'];
const COURSE = [
  'booking_confirmed',
  'empty_picked_up',
  'gated_in',
  'loaded_on_vessel',
  'vessel_departed',
  'in_transit_checkpoint',
  'transshipment_arrived',
  'transshipment_departed',
  'vessel_arrived',
  'discharged',
  'available_for_pickup',
  'gated_out',
  'delivered',
  'empty_returned',
] as const;

/**
 * Returns the n-th shipment of a year of a forwarder's work, always the same for the same n: three milestones at the
 * median, forty at the 99th percentile, unique references, and names, ports and carriers that thousands share.
 * @param now current time of the benchmark, in epoch milliseconds; the newest shipments were created just before
 * @param total total number of shipments
 */
export function journey(n: number, total: number, now: number): Journey {
  const random = numbersFrom(n + 1);
  const created = now - DAY_MS - Math.floor(((total - n) / total) * 364 * DAY_MS);
  const route = routeOf(random);
  const departure = created + Math.floor(random() * 20) * DAY_MS;
  const arrival = departure + Math.floor(20 + random() * 25) * DAY_MS;
  const times = {
    etd: new Date(departure).toISOString(),
    eta: random() < 0.9 ? new Date(arrival).toISOString() : null,
  };
  const fields = { ...referencesOf(n, random), ...goodsOf(n, route, random), ...partiesOf(random), ...route, ...times };
  return {
    at: new Date(created).toISOString(),
    fields,
    milestones: milestonesOf(route, { created, arrival, now }, random),
  };
}

type Random = () => number;

function oneOf<T>(all: readonly T[], random: Random): T {
  return all[Math.floor(random() * all.length)] as T;
}

interface TakenRoute {
  readonly mode: 'ocean' | 'air' | 'road' | 'rail';
  readonly carrier_scac: string;
  readonly origin_port: string;
  readonly destination_port: string;
}

function routeOf(random: Random): TakenRoute {
  const mode = oneOf(MODES_BY_SHARE, random);
  const [from, to] = random() < 0.3 ? [1, 0] : [0, 1];
  return {
    mode,
    carrier_scac: oneOf(CARRIERS[mode], random),
    origin_port: oneOf(PORTS[from as 0 | 1], random),
    destination_port: oneOf(PORTS[to as 0 | 1], random),
  };
}

function referencesOf(n: number, random: Random): Partial<ClientShipmentFields> {
  return {
    external_id: `TMS-2026-${String(n).padStart(7, '0')}`,
    house_bill: `HBL${(n * 7_919) % 10_000_019}`,
    master_bill: random() < 0.6 ? `MB${Math.floor(n / 3)}` : null,
    booking_number: random() < 0.5 ? `BK${Math.floor(n / 2)}` : null,
    references: [{ type: 'purchase_order', value: `45${String(Math.floor(n / 2)).padStart(8, '0')}` }],
    metadata: { desk: oneOf(['rotterdam', 'hamburg', 'antwerp'], random) },
  };
}

function goodsOf(
  n: number,
  { mode, origin_port, destination_port }: TakenRoute,
  random: Random,
): Partial<ClientShipmentFields> {
  if (mode !== 'ocean') return {};
  const count = oneOf([1, 1, 1, 2, 3], random);
  const vessel = random() < 0.3 ? oneOf(VESSELS, random) : undefined;
  const ports = { origin_port, destination_port };
  return {
    load_type: random() < 0.8 ? 'fcl' : 'lcl',
    container_numbers: Array.from({ length: count }, (_, k) => container(n * 5 + k)),
    legs:
      vessel === undefined
        ? []
        : [{ mode, carrier_scac: null, vessel, voyage: `${n % 900}W`, ...ports, etd: null, eta: null }],
  };
}

function partiesOf(random: Random): Partial<ClientShipmentFields> {
  const customer = Math.floor(random() ** 2 * 400);
  return {
    shipper: { name: `${oneOf(NAMES, random)} ${TRADES[customer % TRADES.length]} Ltd`, external_id: `C-${customer}` },
    consignee: {
      name: `${NAMES[customer % NAMES.length]} ${oneOf(TRADES, random)} B.V.`,
      external_id: `W-${customer % 90}`,
    },
  };
}

interface Span {
  readonly created: number;
  readonly arrival: number;
  readonly now: number;
}

function milestonesOf(route: TakenRoute, { created, arrival, now }: Span, random: Random): readonly JourneyMilestone[] {
  const share = random();
  const count = share < 0.99 ? Math.floor(share * 6) + (share > 0.9 ? 6 : 0) : 40;
  const steps = Math.max(count, COURSE.length);
  const made: JourneyMilestone[] = [];
  for (let k = 0; k < count; k += 1) {
    const occurred = created + HOUR_MS + Math.floor(((arrival + 3 * DAY_MS - created) * k) / steps);
    if (occurred > now - DAY_MS) break;
    const place = Math.floor((k * COURSE.length) / steps);
    const code = COURSE[place] ?? 'delivered';
    const location = place < 5 ? route.origin_port : place < 8 ? null : route.destination_port;
    made.push({ code, occurred_at: new Date(occurred).toISOString(), location, source: 'carrier' });
  }
  return made;
}

/** Returns numbers from 0 to below 1, the same sequence for the same seed (mulberry32). */
function numbersFrom(seed: number): Random {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
