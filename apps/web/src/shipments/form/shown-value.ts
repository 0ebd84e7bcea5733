import { LOAD_TYPE_LABELS, MODE_LABELS } from '../../values/codes.ts';
import type { LegValues, ShipmentField, ShipmentValues } from './form-values.ts';

const NOTHING = '—';

type Shown = { readonly [Field in ShipmentField]?: (value: ShipmentValues[Field]) => string };
/** Texts are shown as they are. */
const SHOWN: Shown = {
  mode: (mode) => (mode === null ? '' : MODE_LABELS[mode]),
  load_type: (type) => (type === null ? '' : LOAD_TYPE_LABELS[type]),
  etd: momentOf,
  eta: momentOf,
  shipper: partyText,
  consignee: partyText,
  container_numbers: (numbers) => joined(numbers),
  references: (references) => joined(references.map(({ type, value }) => `${type} ${value}`)),
  metadata: (named) => joined(named.map(({ name, value }) => `${name}: ${value}`)),
  legs: (legs) => legs.map(legText).join('; '),
};

/** A field in one line, to be compared with another state of it. */
export function shownValue(values: ShipmentValues, field: ShipmentField): string {
  const show = SHOWN[field] as ((value: unknown) => string) | undefined;
  const text = show === undefined ? (values[field] as string | null) : show(values[field]);
  return text === null || text === '' ? NOTHING : text;
}

function partyText({ name, external_id }: ShipmentValues['shipper']): string {
  return joined([name, external_id]);
}

function legText({ origin_port, destination_port, vessel, voyage, carrier_scac, etd, eta }: LegValues): string {
  const times = joined([momentOf(etd), momentOf(eta)], ' – ');
  const by = joined([carrier_scac, vessel, voyage], ' ');
  return joined([`${origin_port ?? '?'} → ${destination_port ?? '?'}`, by, times]);
}

function joined(parts: readonly string[], between = ', '): string {
  return parts.filter((part) => part !== '').join(between);
}

/** To the second: two times of one minute are not the same. */
function momentOf(instant: string | null): string {
  if (instant === null) return '';
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(instant));
}
