import type { MilestoneSource, ShipmentFields, Timestamp } from '@tracking/contracts';
import { container } from './api.ts';

/** A shipment with its milestones, as client systems and feeds would have sent them by now. */
export interface Journey {
  /** When it was created. */
  readonly at: Timestamp;
  readonly fields: Partial<ShipmentFields>;
  /** Oldest first. */
  readonly milestones: readonly JourneyMilestone[];
}
export interface JourneyMilestone {
  readonly code: string;
  readonly occurred_at: Timestamp;
  readonly location: string | null;
  readonly source: MilestoneSource;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const COUNTRIES = [
  ['CNSHA', 'CNNGB', 'CNYTN', 'SGSIN', 'VNSGN', 'INNSA', 'KRPUS', 'JPYOK', 'BRSSZ', 'USLAX'],
  ['NLRTM', 'DEHAM', 'BEANR', 'GBFXT', 'FRLEH', 'ESVLC', 'ITGOA', 'PLGDN', 'USNYC', 'USSAV'],
] as const;
const OCEAN_CARRIERS = ['MAEU', 'MSCU', 'CMDU', 'HLCU', 'ONEY', 'EGLV', 'COSU', 'YMLU', 'HDMU', 'ZIMU'];
const OTHER_CARRIERS = { air: ['LH', 'EK', 'CX', 'QR'], road: ['SNLU', 'DSVF', 'GIRT'], rail: ['DBCG', 'PKPC'] };
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
 * The n-th shipment of a year of a forwarder's work, always the same for the same n: three milestones at the median, forty
 * at the 99th percentile, references that nobody shares, and names, ports and carriers that thousands do.
 * @param now of the bench, in epoch milliseconds: the newest were created just before
 * @param total how many there will be
 */
export function journey(n: number, total: number, now: number): Journey {
  const random = numbersFrom(n + 1);
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const created = now - DAY_MS - Math.floor(((total - n) / total) * 364 * DAY_MS);
  const kind = random();
  const mode = kind < 0.78 ? 'ocean' : kind < 0.9 ? 'air' : kind < 0.97 ? 'road' : 'rail';
  const eastward = random() < 0.3;
  const origin = oneOf(COUNTRIES[eastward ? 1 : 0]);
  const destination = oneOf(COUNTRIES[eastward ? 0 : 1]);
  const departure = created + Math.floor(random() * 20) * DAY_MS;
  const arrival = departure + Math.floor(20 + random() * 25) * DAY_MS;
  const customer = Math.floor(random() ** 2 * 400);
  const fields: Partial<ShipmentFields> = {
    external_id: `TMS-2026-${String(n).padStart(7, '0')}`,
    mode,
    ...(mode === 'ocean' && { load_type: random() < 0.8 ? ('fcl' as const) : ('lcl' as const) }),
    house_bill: `HBL${(n * 7_919) % 10_000_019}`,
    ...(random() < 0.6 && { master_bill: `MB${Math.floor(n / 3)}` }),
    ...(random() < 0.5 && { booking_number: `BK${Math.floor(n / 2)}` }),
    container_numbers:
      mode === 'ocean' ? Array.from({ length: oneOf([1, 1, 1, 2, 3]) }, (_, k) => container(n * 5 + k)) : [],
    carrier_scac: oneOf(mode === 'ocean' ? OCEAN_CARRIERS : OTHER_CARRIERS[mode]),
    origin_port: origin,
    destination_port: destination,
    etd: new Date(departure).toISOString(),
    ...(random() < 0.9 && { eta: new Date(arrival).toISOString() }),
    shipper: { name: `${oneOf(NAMES)} ${TRADES[customer % TRADES.length]} Ltd`, external_id: `C-${customer}` },
    consignee: { name: `${NAMES[customer % NAMES.length]} ${oneOf(TRADES)} B.V.`, external_id: `W-${customer % 90}` },
    references: [{ type: 'purchase_order', value: `45${String(Math.floor(n / 2)).padStart(8, '0')}` }],
    metadata: { desk: oneOf(['rotterdam', 'hamburg', 'antwerp']) },
    ...(mode === 'ocean' && random() < 0.3 && { legs: [leg(origin, destination, oneOf(VESSELS), n)] }),
  };
  return { at: new Date(created).toISOString(), fields, milestones: milestones() };

  function milestones(): readonly JourneyMilestone[] {
    const share = random();
    const count = share < 0.99 ? Math.floor(share * 6) + (share > 0.9 ? 6 : 0) : 40;
    const made: JourneyMilestone[] = [];
    for (let k = 0; k < count; k += 1) {
      const occurred =
        created + HOUR_MS + Math.floor(((arrival + 3 * DAY_MS - created) * k) / Math.max(count, COURSE.length));
      if (occurred > now - DAY_MS) break;
      const code =
        COURSE[Math.min(Math.floor((k * COURSE.length) / Math.max(count, COURSE.length)), COURSE.length - 1)] ?? '';
      const location = k < 5 ? origin : k < 8 ? null : destination;
      made.push({ code, occurred_at: new Date(occurred).toISOString(), location, source: 'carrier' });
    }
    return made;
  }
}

function leg(origin_port: string, destination_port: string, vessel: string, n: number) {
  const voyage = `${n % 900}W`;
  return {
    mode: 'ocean' as const,
    carrier_scac: null,
    vessel,
    voyage,
    origin_port,
    destination_port,
    etd: null,
    eta: null,
  };
}

/** Numbers from 0 to below 1, always the same from one seed (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
