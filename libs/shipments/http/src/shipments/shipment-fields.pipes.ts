import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import type { FieldError, Places, ShipmentFields, Warning } from '@tracking/contracts';
import { draftBody, isObject } from '@tracking/http';
import type { Sent } from '@tracking/http';
import { checkShipmentFields } from '@tracking/shipments';
import type { ShipmentPatch } from '@tracking/shipments';
import { PLACES } from '../dependencies.ts';
import { PatchShipmentDto, ShipmentWrittenResource, UpsertShipmentDto } from './shipment.resource.ts';

/** The fields of a shipment that a body sets, and a warning for each field that was ignored. */
export interface ReadShipmentFields {
  readonly fields: Partial<ShipmentFields>;
  readonly warnings: readonly Warning[];
}

@Injectable()
export class ShipmentFieldsPipe implements PipeTransform<Sent, ReadShipmentFields> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(sent: Sent): ReadShipmentFields {
    return readShipmentFields(sent, this.places);
  }
}

type Request = Pick<Sent, 'body' | 'strict'>;

/**
 * Reads the fields of a shipment that a body sets, normalised. The transport mode of an existing shipment is not known
 * here: without `mode` in the body, codes that any mode accepts pass, and the command checks them.
 * @throws RequestError naming every faulty field, whether its type or its content is wrong
 */
export function readShipmentFields(request: Request, places: Places): ReadShipmentFields {
  const { value, faults, accept } = draftBody(UpsertShipmentDto, ShipmentWrittenResource, request);
  const input = withoutFaulty(value, faults);
  const { fields, errors } = checkShipmentFields(input, input.mode, places, request.strict);
  return { fields, warnings: accept(errors) };
}

/** A patch that a body holds, and a warning for each field that was ignored. */
export interface ReadShipmentPatch {
  readonly patch: ShipmentPatch;
  readonly warnings: readonly Warning[];
}

@Injectable()
export class ShipmentPatchPipe implements PipeTransform<Sent, ReadShipmentPatch> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(sent: Sent): ReadShipmentPatch {
    return readShipmentPatch(sent, this.places);
  }
}

/** Reads a merge patch. The command checks the result of merging. @throws RequestError likewise */
function readShipmentPatch(request: Request, places: Places): ReadShipmentPatch {
  const { value, faults, accept } = draftBody(PatchShipmentDto, ShipmentWrittenResource, request);
  const { metadata: _, ...input } = withoutFaulty(value, faults);
  const { fields, errors } = checkShipmentFields(input, input.mode, places, request.strict);
  const warnings = accept(errors);
  const { shipper, consignee, metadata, original_eta } = value;
  const patch = {
    ...fields,
    ...(shipper !== undefined && { shipper }),
    ...(consignee !== undefined && { consignee }),
    ...(metadata !== undefined && { metadata }),
    ...(original_eta !== undefined && { original_eta }),
  };
  return { patch, warnings };
}

/**
 * Replaces each faulty part with a harmless value, so that the sound parts of a list with one faulty element are still
 * checked, under their own index.
 */
function withoutFaulty<T extends object>(value: T, faults: readonly FieldError[]): T {
  if (faults.length === 0) return value;
  const faulty = new Set(faults.map((fault) => fault.param));
  const sound = (part: unknown, param: string): unknown => {
    if (faulty.has(param)) return undefined;
    if (Array.isArray(part)) return part.map((item, index) => sound(item, `${param}[${index}]`) ?? harmless(param));
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, sound(item, `${param}.${name}`)]));
  };
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, sound(part, name)])) as T;
}

/** An element of the list's kind; what is found wrong with it is not reported again. */
function harmless(list: string): unknown {
  return list === 'container_numbers' ? '' : {};
}
