import { MODE_ALIASES } from '@tracking/contracts';
import type { FieldError, Mode, Party, Places, ShipmentFields, Timestamp, Warning } from '@tracking/contracts';
import { ignored, invalidRequest, isObject, parseTimestamp, readDto, unknownFields } from '@tracking/http';
import type { DtoClass } from '@tracking/http';
import { checkShipmentFields } from '@tracking/shipments';
import type { ShipmentInput, ShipmentPatch } from '@tracking/shipments';
import { PatchShipmentDto } from './patch-shipment.dto.ts';
import { ShipmentWrittenResource } from './shipment.resource.ts';
import { UpsertShipmentDto } from './upsert-shipment.dto.ts';
import type { LegDto, PartyDto } from './upsert-shipment.dto.ts';

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
    ...(shipper !== undefined && { shipper: membersOf(shipper) }),
    ...(consignee !== undefined && { consignee: membersOf(consignee) }),
    ...(metadata !== undefined && { metadata }),
    ...(original_eta !== undefined && { original_eta: asTimestamp(original_eta) }),
  };
  return { patch, warnings };
}

/** Those that were sent. */
function membersOf(party: PartyDto | null): Partial<Party> | null {
  return party === null ? null : Object.fromEntries(Object.entries(party).filter(([, member]) => member !== undefined));
}

/** What was read of a body: where it was not faulty, and what is wrong with it. */
interface ReadInput<T> {
  readonly input: ShipmentInput;
  readonly value: T;
  readonly faults: readonly FieldError[];
  readonly unknown: ReturnType<typeof unknownFields>;
}

function readInput<T extends UpsertShipmentDto>(dto: DtoClass<T>, body: unknown): ReadInput<T> {
  const { value, faults } = readDto(dto, body);
  const unknown = unknownFields(dto, ShipmentWrittenResource, body);
  return { input: asInput(faults.length === 0 ? value : withoutFaulty(value, faults)), value, faults, unknown };
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

/** Modes and times in their one form, which the rest is checked against. Absent fields stay absent. */
function asInput({ mode, etd, eta, legs, ...others }: UpsertShipmentDto): ShipmentInput {
  return {
    ...(others as Omit<ShipmentInput, 'mode' | 'etd' | 'eta' | 'legs'>),
    ...(mode !== undefined && { mode: asMode(mode) }),
    ...(etd !== undefined && { etd: asTimestamp(etd) }),
    ...(eta !== undefined && { eta: asTimestamp(eta) }),
    ...(legs !== undefined && { legs: legs?.map(asLeg) ?? null }),
  };
}

function asLeg({ mode, etd, eta, ...others }: LegDto): NonNullable<ShipmentInput['legs']>[number] {
  return { ...others, mode: asMode(mode ?? null), etd: asTimestamp(etd ?? null), eta: asTimestamp(eta ?? null) };
}

function asMode(mode: string | null): Mode | null {
  return mode === null ? null : (MODE_ALIASES[mode] ?? (mode as Mode));
}

function asTimestamp(time: string | null): Timestamp | null {
  return time === null ? null : (parseTimestamp(time) ?? null);
}

/**
 * The DTO with something harmless in the place of each faulty part, so that what is right about a list with one wrong
 * element is still checked, under its own index.
 */
function withoutFaulty(dto: UpsertShipmentDto, faults: readonly FieldError[]): UpsertShipmentDto {
  const faulty = new Set(faults.map((fault) => fault.param));
  const sound = (value: unknown, param: string): unknown => {
    if (faulty.has(param)) return undefined;
    if (Array.isArray(value)) return value.map((item, index) => sound(item, `${param}[${index}]`) ?? harmless(param));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, sound(item, `${param}.${name}`)]));
  };
  const fields = Object.entries(dto).map(([name, value]) => [name, sound(value, name)]);
  return Object.fromEntries(fields) as UpsertShipmentDto;
}

/** An element of the list's kind; what is found wrong with it is not reported again. */
function harmless(list: string): unknown {
  return list === 'container_numbers' ? '' : {};
}
