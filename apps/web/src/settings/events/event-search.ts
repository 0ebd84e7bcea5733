export interface EventSearch {
  /** Separated by commas. */
  readonly type?: string | undefined;
  readonly shipment_id?: string | undefined;
}

/** What an address says; what it says wrongly counts as not said. */
export function readEventSearch(raw: Record<string, unknown>): EventSearch {
  const { type, shipment_id: shipment } = raw;
  return {
    ...(typeof type === 'string' && /^[a-z_.]+(,[a-z_.]+)*$/.test(type) && { type }),
    ...(typeof shipment === 'string' && /^shp_\w+$/.test(shipment) && { shipment_id: shipment }),
  };
}
