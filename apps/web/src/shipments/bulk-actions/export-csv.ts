import type { Shipment } from '@tracking/client';
import type { Environment } from '../../session/api.ts';
import { createCsvWriter } from '../../values/files.ts';
import { loadPortZones, toTimeOrDate } from '../../values/places.ts';
import { createRecordOfPlainShipmentFields } from '../plain-fields.ts';

/**
 * Builds a CSV file of shipments page by page, and downloads it. A cell that looks like a formula starts with an
 * apostrophe.
 */
export async function exportShipmentsAsCsv(
  environment: Environment,
  pages: AsyncIterable<readonly Shipment[]> | Iterable<readonly Shipment[]>,
  onProgress: (count: number) => void = () => undefined,
): Promise<void> {
  const write = await createCsvWriter();
  const parts = [write([CSV_EXPORT_HEADER])];
  let count = 0;
  for await (const page of pages) {
    await loadPortZones(environment, page.flatMap(listPortsNeedingTimeZone));
    if (page.length > 0) parts.push(write(page.map(buildShipmentCsvCells)));
    count += page.length;
    onProgress(count);
  }
  downloadCsvFile(
    new Blob(parts, { type: 'text/csv;charset=utf-8' }),
    `shipments-${new Date().toISOString().slice(0, 10)}.csv`,
  );
}

/** Lists the ports whose time zones are needed to export whole days as dates. */
function listPortsNeedingTimeZone(shipment: Shipment): readonly (string | null)[] {
  return [
    shipment.etd_precision === 'day' ? shipment.origin_port : null,
    [shipment.eta_precision, shipment.original_eta_precision].includes('day') ? shipment.destination_port : null,
  ];
}

function downloadCsvFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The URL of the file is released after a minute, when the browser has saved the file.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Columns of the CSV export. Each column has the name of its API field. */
const CSV_COLUMNS: Readonly<Record<string, (shipment: Shipment) => string | number | null | undefined>> = {
  id: ({ id }) => id,
  external_id: ({ external_id }) => external_id,
  status: ({ status }) => status,
  mode: ({ mode }) => mode,
  load_type: ({ load_type }) => load_type,
  origin_port: ({ origin_port }) => origin_port,
  destination_port: ({ destination_port }) => destination_port,
  carrier_scac: ({ carrier_scac }) => carrier_scac,
  ...createRecordOfPlainShipmentFields((name) => (shipment: Shipment) => shipment[name]),
  container_numbers: ({ container_numbers }) => container_numbers.join(' '),
  references: ({ references }) => references.map(({ type, value }) => `${type}:${value}`).join(' '),
  shipper_name: ({ shipper }) => shipper?.name,
  shipper_external_id: ({ shipper }) => shipper?.external_id,
  consignee_name: ({ consignee }) => consignee?.name,
  consignee_external_id: ({ consignee }) => consignee?.external_id,
  etd: ({ etd, etd_precision, origin_port }) => toTimeOrDate(etd, etd_precision, origin_port),
  atd: ({ atd }) => atd,
  original_eta: ({ original_eta, original_eta_precision, destination_port }) =>
    toTimeOrDate(original_eta, original_eta_precision, destination_port),
  eta: ({ eta, eta_precision, destination_port }) => toTimeOrDate(eta, eta_precision, destination_port),
  ata: ({ ata }) => ata,
  last_milestone: ({ last_milestone }) => last_milestone?.code,
  last_milestone_at: ({ last_milestone }) => last_milestone?.occurred_at,
  open_exceptions_count: ({ open_exceptions_count }) => open_exceptions_count,
  documents_count: ({ documents_count }) => documents_count,
  created_at: ({ created_at }) => created_at,
  updated_at: ({ updated_at }) => updated_at,
  url: ({ url }) => url,
};

export const CSV_EXPORT_HEADER = Object.keys(CSV_COLUMNS);

/** Builds the cells of one row in the CSV export. Times are in UTC. Whole days are exported as dates. */
export function buildShipmentCsvCells(shipment: Shipment): readonly string[] {
  return Object.values(CSV_COLUMNS).map((field) => String(field(shipment) ?? ''));
}
