import type { FieldError } from '@tracking/client';
import { isCarrierCode, isContainerNumber, isPortCode, normaliseCode } from '../../values/codes.ts';
import { SHIPMENT_FIELD_LABELS, type ShipmentField, type ShipmentFormValues } from './form-values.ts';

const CONCATENATED_CONTAINER_NUMBERS_PATTERN = /^(?:[A-Z]{4}\d{7}){2,}$/;
/** Maximum number of containers that the API allows in a shipment. */
const MAX_CONTAINERS = 200;

/**
 * Parses container numbers from typed or pasted texts. The numbers may follow each other without a separator. The
 * result is normalised and contains no duplicates.
 */
export function parseContainerNumbers(texts: readonly string[]): readonly string[] {
  const numbers = texts
    .map(normaliseCode)
    .flatMap((text) => (CONCATENATED_CONTAINER_NUMBERS_PATTERN.test(text) ? (text.match(/.{11}/g) ?? []) : [text]));
  return [...new Set(numbers.filter((number) => number !== ''))];
}

/** Validates the values of the shipment form before they are sent. Returns the error messages by field path. */
export function validateShipment(values: ShipmentFormValues): Record<string, string> {
  const errors: Record<string, string> = {};
  const check = (path: string, isWrong: boolean, message: string) => {
    if (isWrong) errors[path] ??= message;
  };
  const { mode, container_numbers: containers } = values;
  const hasReference = values.external_id.trim() !== '' || values.house_bill.trim() !== '' || containers.length > 0;
  check('external_id', !hasReference, 'Enter your reference, a house bill or a container number.');

  const wrong = containers.filter((number) => !isContainerNumber(number, mode));
  check('container_numbers', wrong.length > 0, `Not a valid container number: ${wrong.join(', ')}`);
  check('container_numbers', containers.length > MAX_CONTAINERS, `Enter at most ${MAX_CONTAINERS} containers`);
  validateJourneyFormFields('', values, mode, check);
  values.legs.forEach((leg, index) => validateJourneyFormFields(`legs.${index}.`, leg, leg.mode ?? mode, check));
  values.references.forEach(({ type, value }, index) => {
    check(`references.${index}.type`, type.trim() === '', 'Enter the type of the reference');
    check(`references.${index}.value`, value.trim() === '', 'Enter the reference, or remove the row');
  });
  const names = values.metadata.map(({ name }) => name.trim());
  names.forEach((name, index) => {
    check(`metadata.${index}.name`, name === '', 'Enter a name, or remove the row');
    check(`metadata.${index}.name`, names.indexOf(name) < index, 'This name is already used');
  });
  return errors;
}

type Journey = Pick<ShipmentFormValues, 'carrier_scac' | 'origin_port' | 'destination_port'>;
type Check = (path: string, isWrong: boolean, message: string) => void;

function validateJourneyFormFields(
  prefix: string,
  journey: Journey,
  mode: ShipmentFormValues['mode'],
  check: Check,
): void {
  const carrier = normaliseCode(journey.carrier_scac);
  const mayBeAirline = mode === 'air' || mode === 'courier';
  const forms = mayBeAirline
    ? 'Enter a SCAC of two to four letters, or a two-character airline code'
    : 'Enter a SCAC of two to four letters';
  check(`${prefix}carrier_scac`, carrier !== '' && !isCarrierCode(carrier, mode), forms);
  for (const field of ['origin_port', 'destination_port'] as const) {
    const port = journey[field];
    const isWrong = port !== null && !isPortCode(port, mode);
    check(`${prefix}${field}`, isWrong, 'Airport codes are not valid for this mode. Choose a port.');
  }
}

interface FormErrors {
  /** Error messages of the form by field path. */
  readonly errors: Readonly<Record<string, string>>;
  /** Error messages that belong to no field of the form. */
  readonly others: readonly string[];
}

/** Assigns the errors in an API response to the fields of the form. */
export function assignErrorsToFields(details: readonly FieldError[], values: ShipmentFormValues): FormErrors {
  const errors: Record<string, string> = {};
  const others: string[] = [];
  for (const { param, message } of details) {
    const path = toFormFieldPath(param, values);
    if (path === undefined) others.push(`${param}: ${message}`);
    else errors[path] = errors[path] === undefined ? message : `${errors[path]} ${message}`;
  }
  return { errors, others };
}

/**
 * Converts an API parameter such as `legs[0].etd` to a field path of the form, such as `legs.0.etd`. Returns undefined
 * if the form has no such field.
 */
function toFormFieldPath(param: string, { metadata }: ShipmentFormValues): string | undefined {
  const path = param.replaceAll(/\[(\d+)\]/g, '.$1');
  const [field = '', ...rest] = path.split('.');
  if (!Object.hasOwn(SHIPMENT_FIELD_LABELS, field)) return undefined;
  if (field === 'container_numbers') return field;
  if (field !== 'metadata' || rest.length === 0) return path;
  const index = metadata.findIndex(({ name }) => name.trim() === rest.join('.'));
  return index < 0 ? field : `metadata.${index}.value`;
}

/** Returns the label of the field that an API warning names, such as "Legs, 2" for `legs[1].etd`. */
export function getLabelOfWarnedField(param: string | null): string | undefined {
  const [field = '', index] = (param ?? '').split(/[.[\]]+/);
  if (!Object.hasOwn(SHIPMENT_FIELD_LABELS, field)) return undefined;
  const label = SHIPMENT_FIELD_LABELS[field as ShipmentField];
  return index !== undefined && /^\d+$/.test(index) ? `${label}, ${Number(index) + 1}` : label;
}
