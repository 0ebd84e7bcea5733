import type { Shipment } from '@tracking/client';

export type Mode = NonNullable<Shipment['mode']>;
export type LoadType = NonNullable<Shipment['load_type']>;

export const MODE_LABELS: Readonly<Record<Mode, string>> = {
  ocean: 'Ocean',
  air: 'Air',
  road: 'Road',
  rail: 'Rail',
  barge: 'Barge',
  courier: 'Courier',
  multimodal: 'Multimodal',
};
export const LOAD_TYPE_LABELS: Readonly<Record<LoadType, string>> = {
  fcl: 'Full container (FCL)',
  lcl: 'Part container (LCL)',
  ftl: 'Full truck (FTL)',
  ltl: 'Part truck (LTL)',
  air_loose: 'Loose by air',
  bulk: 'Bulk',
};

/** For selects. */
export const MODE_OPTIONS = optionsOf(MODE_LABELS);
export const LOAD_TYPE_OPTIONS = optionsOf(LOAD_TYPE_LABELS);

function optionsOf<Value extends string>(labels: Readonly<Record<Value, string>>) {
  return (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));
}
