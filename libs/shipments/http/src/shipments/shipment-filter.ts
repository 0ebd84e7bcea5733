import { MODE_ALIASES, SHIPMENT_STATUSES } from '@tracking/contracts';
import type { FieldError, Mode, Places } from '@tracking/contracts';
import { invalidRequest, parseTimestamp } from '@tracking/http';
import { wordsOf } from '@tracking/read-models';
import type { ShipmentListFilter, ShipmentOrder } from '@tracking/read-models';
import { checkShipmentFields } from '@tracking/shipments';
import type { ListShipmentsDto } from './list-shipments.dto.ts';

/** Which shipments a query asks for, and in which order. */
export interface ShipmentListing {
  /** In one form however a client spells it, so that a cursor fits. */
  readonly filter: ShipmentListFilter;
  readonly sort: string;
  readonly order: ShipmentOrder;
}

/** Filters that are compared with what is stored as they are. */
const AS_THEY_ARE = [
  'incoterm',
  'external_id',
  'house_bill',
  'master_bill',
  'booking_number',
  'reference',
  'shipper',
  'consignee',
] as const;
const TIMES = ['eta_from', 'eta_to', 'created_from', 'created_to', 'updated_since'] as const;
const FLAGS = ['active', 'has_open_exceptions'] as const;

/** Values in the form in which they are stored. @throws RequestError naming every code that has not the form of one */
export function shipmentListing(query: ListShipmentsDto, places: Places): ShipmentListing {
  const named = query.status?.split(',');
  const sort = query.sort ?? '-created_at';
  const filter = {
    ids: query.id && [...new Set(query.id.split(','))].sort(),
    status: named && SHIPMENT_STATUSES.filter((status) => named.includes(status)),
    mode: query.mode && (MODE_ALIASES[query.mode] ?? (query.mode as Mode)),
    words: query.q && [...new Set(wordsOf(query.q))].sort(),
    ...each(FLAGS, (name) => query[name] && query[name] === 'true'),
    ...each(AS_THEY_ARE, (name) => query[name]),
    ...each(TIMES, (name) => query[name] && parseTimestamp(query[name])),
    ...codes(query, places),
  };
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return {
    filter: Object.fromEntries(given),
    sort,
    order: { field: sort.replace('-', '') as ShipmentOrder['field'], descending: sort.startsWith('-') },
  };
}

function each<N extends string, T>(names: readonly N[], of: (name: N) => T): { readonly [Name in N]: T } {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as { [Name in N]: T };
}

function codes({ container_number, carrier_scac, origin_port, destination_port }: ListShipmentsDto, places: Places) {
  const ports = { carrier_scac, origin_port, destination_port };
  const container_numbers = container_number === undefined ? undefined : [container_number];
  const given = Object.entries({ ...ports, container_numbers }).filter(([, value]) => value !== undefined);
  const { fields, errors } = checkShipmentFields(Object.fromEntries(given), undefined, places);
  if (errors.length > 0) throw invalidRequest(errors.map(asOfQuery));
  const { container_numbers: containers, ...others } = fields;
  return { ...(others as Partial<Record<keyof typeof ports, string>>), container_number: containers?.[0] };
}

function asOfQuery(error: FieldError): FieldError {
  return { ...error, param: error.param.replace('container_numbers[0]', 'container_number') };
}
