import { applyDecorators, Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { FieldError, PlaceLookup, ClientShipmentFields, Timestamp, Warning } from '@tracking/contracts';
import {
  CLOCK_INJECTION_TOKEN,
  parseBodyAndCollectFaults,
  createInvalidRequestError,
  isJsonObject,
  TimeQueryProperty,
  DeclareErrorResponse,
} from '@tracking/http';
import type { RequestBodyToCheck } from '@tracking/http';
import type { Clock } from '@tracking/ports';
import { checkShipmentFields, normaliseCode } from '@tracking/shipments';
import type { ShipmentPatch } from '@tracking/shipments';
import { PLACES_INJECTION_TOKEN } from '../dependencies.ts';
import { parseShipmentIdOrThrow } from './shipment-reader.ts';
import { PatchShipmentDto, ShipmentWrittenResource, UpsertShipmentDto } from './shipment.resource.ts';

/** Reads the id of a shipment. @throws RequestError `not_found` if the text is not an id */
export const SHIPMENT_ID_PIPE: PipeTransform<string, string> = { transform: parseShipmentIdOrThrow };

/**
 * Declares an operation on the shipment in its path.
 * @param missing description of the 404 response
 */
export const ApiShipmentIdParameter = (
  missing = 'No such shipment in this workspace and environment.',
): MethodDecorator =>
  applyDecorators(
    ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' }),
    DeclareErrorResponse(404, missing),
  );

/** Sentence for the description of an operation on a container or milestone of a shipment. */
export const SHIPMENT_ETAG_DESCRIPTION = 'If-Match and the ETag of the response are those of the shipment.';

/** Shipment id and normalized container number in a path. */
export interface ContainerPathParameters {
  readonly shipment_id: string;
  readonly number: string;
}

export const CONTAINER_PARAMETERS_PIPE: PipeTransform<
  { readonly id: string; readonly number: string },
  ContainerPathParameters
> = {
  transform: ({ id, number }) => ({ shipment_id: parseShipmentIdOrThrow(id), number: normaliseCode(number) }),
};

export const AS_OF_PARAMETER = {
  description: 'State as recorded at this time, to the millisecond. The time must not be in the future.',
  example: '2026-11-21T09:30:00Z',
};

export class GetShipmentDto {
  @TimeQueryProperty(AS_OF_PARAMETER)
  as_of?: string;
}

/** Checks the time `as_of` of a request. Refuses a time in the future. */
@Injectable()
export class RefuseFutureAsOfTimePipe implements PipeTransform<GetShipmentDto, GetShipmentDto> {
  constructor(@Inject(CLOCK_INJECTION_TOKEN) private readonly clock: Clock) {}

  transform(query: GetShipmentDto): GetShipmentDto {
    requirePastTime(query.as_of, this.clock());
    return query;
  }
}

/** Returns the time. @throws RequestError if the time is in the future */
export function requirePastTime(as_of: Timestamp | undefined, now: Date): Timestamp | undefined {
  if (as_of === undefined || as_of <= now.toISOString()) return as_of;
  const message = 'Must not be in the future.';
  throw createInvalidRequestError([{ param: 'as_of', code: 'timestamp_in_future', message }]);
}

/** The shipment fields that a body contains, with a warning for each ignored field. */
export interface ShipmentFieldsWithWarnings {
  readonly fields: Partial<ClientShipmentFields>;
  readonly warnings: readonly Warning[];
}

@Injectable()
export class ParseShipmentBodyPipe implements PipeTransform<RequestBodyToCheck, ShipmentFieldsWithWarnings> {
  constructor(@Inject(PLACES_INJECTION_TOKEN) private readonly places: PlaceLookup) {}

  transform(sent: RequestBodyToCheck): ShipmentFieldsWithWarnings {
    return parseShipmentFieldsOfBody(sent, this.places);
  }
}

/**
 * Reads and normalizes the shipment fields in a body. The mode of an existing shipment is not known here: without
 * `mode` in the body, codes of any mode are accepted, and the command checks them.
 * @throws RequestError with every field whose type or content is invalid
 */
export function parseShipmentFieldsOfBody(
  sent: Pick<RequestBodyToCheck, 'body' | 'strict'>,
  places: PlaceLookup,
): ShipmentFieldsWithWarnings {
  const {
    value,
    faults,
    throwRequestBodyErrorsOrListWarnings: accept,
  } = parseBodyAndCollectFaults(UpsertShipmentDto, ShipmentWrittenResource, sent);
  const input = replaceInvalidFieldsWithPlaceholders(value, faults);
  const { fields, errors } = checkShipmentFields(input, input.mode, places, sent.strict);
  return { fields, warnings: accept(errors) };
}

/** The merge patch that a body contains, with a warning for each ignored field. */
export interface ParsedShipmentPatch {
  readonly patch: ShipmentPatch;
  readonly warnings: readonly Warning[];
}

/** Reads a merge patch of a shipment. The command checks the merged result. */
@Injectable()
export class ShipmentPatchPipe implements PipeTransform<RequestBodyToCheck, ParsedShipmentPatch> {
  constructor(@Inject(PLACES_INJECTION_TOKEN) private readonly places: PlaceLookup) {}

  /** @throws RequestError naming every faulty field */
  transform(sent: RequestBodyToCheck): ParsedShipmentPatch {
    const {
      value,
      faults,
      throwRequestBodyErrorsOrListWarnings: accept,
    } = parseBodyAndCollectFaults(PatchShipmentDto, ShipmentWrittenResource, sent);
    const { metadata: _, ...input } = replaceInvalidFieldsWithPlaceholders(value, faults);
    const { fields, errors } = checkShipmentFields(input, input.mode, this.places, sent.strict);
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
}

/**
 * Replaces each invalid field or element with a valid value, so that the valid elements of a list are still checked
 * under their own index.
 */
function replaceInvalidFieldsWithPlaceholders<T extends object>(value: T, faults: readonly FieldError[]): T {
  if (faults.length === 0) return value;
  const faulty = new Set(faults.map((fault) => fault.param));
  const validPart = (part: unknown, param: string): unknown => {
    if (faulty.has(param)) return undefined;
    if (Array.isArray(part))
      return part.map(
        (item, index) => validPart(item, `${param}[${index}]`) ?? getSubstituteForInvalidListElement(param),
      );
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, validPart(item, `${param}.${name}`)]));
  };
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, validPart(part, name)])) as T;
}

/** Returns a valid element for the list. It replaces an invalid element, whose error is already reported. */
function getSubstituteForInvalidListElement(list: string): unknown {
  return list === 'container_numbers' ? '' : {};
}
