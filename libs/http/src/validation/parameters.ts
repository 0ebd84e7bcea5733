import type { FieldError } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';
import { createInvalidRequestError } from '../errors/request-error.ts';
import { createFieldError } from './checks.ts';
import { listOpenApiFieldsOfDtoClass, getFieldDeclarations, readAndValidateObject } from './read-dto.ts';
import type { DtoClass } from './read-dto.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Class of the query parameters of an operation. A route without one is a page or a file, and accepts any query.
     */
    parameters?: DtoClass;
  }
}

/** The query of an operation without parameters. */
export class NoParameters {}

/**
 * Reads the query of every operation before its handler runs. An unknown parameter is refused, since a list with a
 * misspelled filter would return everything.
 * @throws RequestError naming every parameter that is unknown or faulty
 */
export function readAndValidateQueryParameters(request: FastifyRequest): void {
  const { parameters } = request.routeOptions.config;
  if (request.is404 || parameters === undefined) return;
  const { value, faults } = readAndValidateObject(parameters, request.query);
  const all = [
    ...findMalformedEscapes(request.raw.url ?? ''),
    ...findUnknownParameters(Object.keys(request.query as object), parameters),
    ...findRepeatedParameters(request.query as object, parameters),
    ...faults,
  ];
  if (all.length > 0) throw createInvalidRequestError([...selectFirstErrorPerParameter(all)]);
  request.query = value;
}

const MAX_REPORTED_FAULTS = 100;
/** Longest parameter name in an error, in characters, because the client chooses the name. */
const MAX_QUOTED_NAME_CHARS = 200;

function findUnknownParameters(names: readonly string[], parameters: DtoClass): readonly FieldError[] {
  const known = getFieldDeclarations(parameters);
  const unknown = names.filter((name) => !known.has(name)).slice(0, MAX_REPORTED_FAULTS);
  if (unknown.length === 0) return [];
  const allowed = known.size === 0 ? 'none' : listOpenApiFieldsOfDtoClass(parameters).join(', ');
  const message = `Is not a query parameter of this operation. Allowed: ${allowed}.`;
  return unknown.flatMap((name) =>
    createFieldError(name.slice(0, MAX_QUOTED_NAME_CHARS), 'unknown_parameter', message),
  );
}

function findRepeatedParameters(query: object, parameters: DtoClass): readonly FieldError[] {
  const known = getFieldDeclarations(parameters);
  return Object.entries(query).flatMap(([name, value]) => {
    if (!Array.isArray(value)) return [];
    const isList = known.get(name)?.input.type === 'array';
    const hint = isList ? ` Separate several values by commas, such as ${name}=VALUE,VALUE.` : '';
    return createFieldError(name.slice(0, MAX_QUOTED_NAME_CHARS), 'invalid_value', `Must be given only once.${hint}`);
  });
}

/**
 * Finds query parameters that are not percent-encoded UTF-8. The query parser would accept the malformed text
 * literally, and filters would search for it.
 */
function findMalformedEscapes(url: string): readonly FieldError[] {
  const query = url.slice(url.indexOf('?') + 1);
  if (query === url || !query.includes('%')) return [];
  const malformed = query.split('&').filter((part) => decodePercentOrUndefined(part) === undefined);
  return malformed.slice(0, MAX_REPORTED_FAULTS).flatMap((part) => {
    const [name = ''] = part.split('=', 1);
    return createFieldError(
      (decodePercentOrUndefined(name) ?? name).slice(0, MAX_QUOTED_NAME_CHARS),
      'invalid_value',
      'Must be percent-encoded UTF-8.',
    );
  });
}

function decodePercentOrUndefined(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Returns the first fault of each parameter. */
function selectFirstErrorPerParameter(faults: readonly FieldError[]): Iterable<FieldError> {
  const first = new Map<string, FieldError>();
  for (const each of faults) if (!first.has(each.param)) first.set(each.param, each);
  return first.values();
}
