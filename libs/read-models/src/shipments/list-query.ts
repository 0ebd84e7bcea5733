import type { Mode, ShipmentStatus, Timestamp } from '@tracking/contracts';
import type { SortValues } from '../read-model.ts';

/** What a list can be sorted by, each with a sort index of the rows. */
export const SHIPMENT_SORT_FIELDS = ['created_at', 'updated_at', 'eta'] as const;
export type ShipmentSortField = (typeof SHIPMENT_SORT_FIELDS)[number];

export interface ShipmentOrder {
  readonly field: ShipmentSortField;
  readonly descending: boolean;
}

type Given<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** What is asked for of a shipment, normalised as it is stored; all of it where several are given. */
export type ShipmentListFilter = Given<{
  /** Any of these. Each is read for every page: give few. */
  readonly ids: readonly string[];
  /** Any of these. */
  readonly status: readonly ShipmentStatus[];
  readonly active: boolean;
  readonly has_open_exceptions: boolean;
  readonly mode: Mode;
  readonly external_id: string;
  readonly house_bill: string;
  readonly master_bill: string;
  readonly booking_number: string;
  /** A value of `references`. */
  readonly reference: string;
  /** The party's `external_id`. */
  readonly shipper: string;
  readonly consignee: string;
  readonly container_number: string;
  readonly carrier_scac: string;
  readonly origin_port: string;
  readonly destination_port: string;
  /** Bounds are inclusive. */
  readonly eta_from: Timestamp;
  readonly eta_to: Timestamp;
  readonly created_from: Timestamp;
  readonly created_to: Timestamp;
  readonly updated_since: Timestamp;
  /** Each is the beginning of one of the shipment's words; in the form of `wordsOf`. */
  readonly words: readonly string[];
}>;

export interface ShipmentListQuery {
  readonly filter: ShipmentListFilter;
  /** Newest first where it is absent. */
  readonly order?: ShipmentOrder | undefined;
  /** At least 1. */
  readonly limit: number;
  /** `next` of the page before, under the same filter and order. */
  readonly after?: SortValues | undefined;
}
