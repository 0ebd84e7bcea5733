import type { FieldError } from '@tracking/client';
import { FIELD_LABELS, type ShipmentField, type ShipmentValues } from './form-values.ts';

export interface RefusedForm {
  /** By the path of the field in the form. */
  readonly errors: Readonly<Record<string, string>>;
  /** What is of no field. */
  readonly others: readonly string[];
}

/** What the API found wrong, at the fields that it is about. */
export function refusedForm(details: readonly FieldError[], values: ShipmentValues): RefusedForm {
  const errors: Record<string, string> = {};
  const others: string[] = [];
  for (const { param, message } of details) {
    const path = pathOf(param, values);
    if (path === undefined) others.push(`${param}: ${message}`);
    else errors[path] = errors[path] === undefined ? message : `${errors[path]} ${message}`;
  }
  return { errors, others };
}

/** `legs.0.etd` of `legs[0].etd`; undefined for what is no field of the form. */
function pathOf(param: string, { metadata }: ShipmentValues): string | undefined {
  const path = param.replaceAll(/\[(\d+)\]/g, '.$1');
  const [field = '', ...rest] = path.split('.');
  if (!Object.hasOwn(FIELD_LABELS, field)) return undefined;
  if (field === 'container_numbers') return field;
  if (field !== 'metadata' || rest.length === 0) return path;
  const index = metadata.findIndex(({ name }) => name.trim() === rest.join('.'));
  return index < 0 ? field : `metadata.${index}.value`;
}

/** "Legs, 2" of `legs[1].etd`: what a warning is about. */
export function labelOf(param: string | null): string | undefined {
  const [field = '', index] = (param ?? '').split(/[.[\]]+/);
  if (!Object.hasOwn(FIELD_LABELS, field)) return undefined;
  const label = FIELD_LABELS[field as ShipmentField];
  return index !== undefined && /^\d+$/.test(index) ? `${label}, ${Number(index) + 1}` : label;
}
