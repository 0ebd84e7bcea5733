import type { FieldError, Places, ShipmentFields, Warning } from '@tracking/contracts';
import { ignored, invalidRequest, isObject, readDto, unknownFields } from '@tracking/http';
import type { DtoClass } from '@tracking/http';
import { checkShipmentFields } from '@tracking/shipments';
import type { ShipmentPatch } from '@tracking/shipments';
import { PatchShipmentDto, ShipmentWrittenResource, UpsertShipmentDto } from './shipment.resource.ts';

/** The fields of a shipment that a body sets, and which of the body's fields were ignored. */
export interface ReadShipmentFields {
  readonly fields: Partial<ShipmentFields>;
  readonly warnings: readonly Warning[];
}

/**
 * The fields of a shipment that a body sets, normalised. The transport mode of an existing shipment is not known here:
 * without `mode` in the body what any mode accepts passes, and the command decides.
 * @throws RequestError naming every faulty field, whether its type or its content is wrong
 */
export function readShipmentFields(body: unknown, strict: boolean, places: Places): ReadShipmentFields {
  const { input, ...read } = readInput(UpsertShipmentDto, body);
  const checked = checkShipmentFields(input, input.mode, places, strict);
  return { fields: checked.fields, warnings: warningsOf(read, checked.errors, strict) };
}

/** A patch that a body holds, and which of the body's fields were ignored. */
export interface ReadShipmentPatch {
  readonly patch: ShipmentPatch;
  readonly warnings: readonly Warning[];
}

/** The same of a merge patch; what is merged the command checks as it is then. @throws RequestError likewise */
export function readShipmentPatch(body: unknown, strict: boolean, places: Places): ReadShipmentPatch {
  const { input, value, ...read } = readInput(PatchShipmentDto, body);
  const { metadata: _, ...rest } = input;
  const { fields, errors } = checkShipmentFields(rest, rest.mode, places, strict);
  const { shipper, consignee, metadata, original_eta } = value;
  const warnings = warningsOf(read, errors, strict);
  const patch = {
    ...fields,
    ...(shipper !== undefined && { shipper }),
    ...(consignee !== undefined && { consignee }),
    ...(metadata !== undefined && { metadata }),
    ...(original_eta !== undefined && { original_eta }),
  };
  return { patch, warnings };
}

/** The result of reading a body. */
interface ReadInput<T> {
  /** The value for the checks of the domain, without its faulty parts. */
  readonly input: T;
  readonly value: T;
  readonly faults: readonly FieldError[];
  readonly unknown: ReturnType<typeof unknownFields>;
}

function readInput<T extends object>(dto: DtoClass<T>, body: unknown): ReadInput<T> {
  const { value, faults } = readDto(dto, body);
  const unknown = unknownFields(dto, ShipmentWrittenResource, body);
  return { input: faults.length === 0 ? value : withoutFaulty(value, faults), value, faults, unknown };
}

/** @throws RequestError where anything is wrong */
function warningsOf(
  { faults, unknown }: Pick<ReadInput<object>, 'faults' | 'unknown'>,
  found: readonly FieldError[],
  strict: boolean,
): readonly Warning[] {
  const faulty = new Set(faults.map((fault) => fault.param));
  const errors = [...faults, ...found.filter((error) => !faulty.has(error.param)), ...(strict ? unknown : [])];
  if (errors.length > 0) throw invalidRequest(errors);
  return ignored(unknown);
}

/**
 * Replaces each faulty part with a harmless value, so that the sound parts of a list with one faulty element are still
 * checked, under their own index.
 */
function withoutFaulty<T extends object>(dto: T, faults: readonly FieldError[]): T {
  const faulty = new Set(faults.map((fault) => fault.param));
  const sound = (value: unknown, param: string): unknown => {
    if (faulty.has(param)) return undefined;
    if (Array.isArray(value)) return value.map((item, index) => sound(item, `${param}[${index}]`) ?? harmless(param));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, sound(item, `${param}.${name}`)]));
  };
  const fields = Object.entries(dto).map(([name, value]) => [name, sound(value, name)]);
  return Object.fromEntries(fields) as T;
}

/** An element of the list's kind; what is found wrong with it is not reported again. */
function harmless(list: string): unknown {
  return list === 'container_numbers' ? '' : {};
}
