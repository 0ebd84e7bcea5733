import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform, Type } from '@nestjs/common';
import {
  MODE_ALIASES,
  TRANSPORT_MODES,
  SHIPMENT_FILTER_LIMITS,
  SHIPMENT_FILTERS,
  SHIPMENT_STATUSES,
  listFilterNamesOfFilterKinds,
} from '@tracking/contracts';
import type {
  FieldError,
  PlaceLookup,
  ShipmentFilterDefinition,
  ShipmentFilterKind,
  ShipmentFilterName,
} from '@tracking/contracts';
import {
  createFieldError,
  CheckedProperty,
  type FieldCheck,
  type FieldDecoratorOptions,
  BooleanQueryProperty,
  createIdCheck,
  createInvalidRequestError,
  DEFAULT_MAX_CHARS,
  PageDto,
  parseTimestamp,
  ListQueryProperty,
  EnumQueryProperty,
  TextQueryProperty,
  TimeQueryProperty,
  selectKnownValuesOfCommaSeparatedList,
  EnumListQueryProperty,
  checkText,
} from '@tracking/http';
import { foldReference, SHIPMENT_SORT_FIELDS, splitIntoSearchParts, splitIntoWords } from '@tracking/read-models';
import type { ShipmentListFilter, ShipmentSortOrder } from '@tracking/read-models';
import { checkShipmentFields } from '@tracking/shipments';
import { PLACES_INJECTION_TOKEN } from '../dependencies.ts';

const { ids: MAX_IDS, words: MAX_WORDS } = SHIPMENT_FILTER_LIMITS;

const checkSearchWords: FieldCheck = (value, param) => {
  const faults = checkText(value, param);
  if (faults.length > 0) return faults;
  const count = new Set(splitIntoWords(String(value))).size;
  if (count === 0) return createFieldError(param, 'invalid_value', 'Must contain a letter or a digit.');
  return count <= MAX_WORDS
    ? []
    : createFieldError(param, 'invalid_value', `Must have at most ${MAX_WORDS} different words.`);
};

/** Decorators for query parameters, by kind of filter. */
const FILTER_PARAMETER_DECORATORS: {
  readonly [Kind in ShipmentFilterKind]: (
    options: FieldDecoratorOptions,
    filter: ShipmentFilterDefinition,
  ) => PropertyDecorator;
} = {
  ids: (options) => ListQueryProperty(createIdCheck('shp'), MAX_IDS, options),
  statuses: (options) => EnumListQueryProperty(SHIPMENT_STATUSES, options),
  flag: BooleanQueryProperty,
  modes: (options) => EnumListQueryProperty(TRANSPORT_MODES, options, MODE_ALIASES),
  choices: (options, { values = [] }) => EnumListQueryProperty(values, options),
  reference: TextQueryProperty,
  container: TextQueryProperty,
  party: TextQueryProperty,
  carrier: TextQueryProperty,
  port: TextQueryProperty,
  time: TimeQueryProperty,
  words: (options) =>
    CheckedProperty(
      checkSearchWords,
      { ...options, required: false },
      { type: String, minLength: 1, maxLength: DEFAULT_MAX_CHARS },
    ),
};

const SHIPMENT_SORTS = SHIPMENT_SORT_FIELDS.flatMap((name) => [name, `-${name}`]);

type Parameters = { readonly [Name in ShipmentFilterName | 'sort']?: string };

/** Query parameters of the shipment list. The list contains the shipments that match all filters. */
export class ListShipmentsDto extends (PageDto as Type<PageDto & Parameters>) {}

for (const [name, filter] of Object.entries<ShipmentFilterDefinition>(SHIPMENT_FILTERS)) {
  const { kind, description, example } = filter;
  const declare = FILTER_PARAMETER_DECORATORS[kind]({ description, ...(example !== undefined && { example }) }, filter);
  declare(ListShipmentsDto.prototype, name);
}
const declareSortParameter = EnumQueryProperty(SHIPMENT_SORTS, {
  description:
    'Field to sort by, with `-` for descending order; `-created_at` by default. Shipments without an ETA come last.',
  example: '-updated_at',
});
declareSortParameter(ListShipmentsDto.prototype, 'sort');

/** Filters and order of a shipment list. */
export interface ShipmentFiltersAndSort {
  /** Normalized filter values. */
  readonly filter: ShipmentListFilter;
  /** Filter values in a form that is equal for all spellings of the same query, so that a cursor is valid with each. */
  readonly cursorFilter: Readonly<Record<string, unknown>>;
  readonly sort: string;
  readonly order: ShipmentSortOrder;
}

@Injectable()
export class ShipmentFilterPipe implements PipeTransform<ListShipmentsDto, ShipmentFiltersAndSort> {
  constructor(@Inject(PLACES_INJECTION_TOKEN) private readonly places: PlaceLookup) {}

  transform(query: ListShipmentsDto): ShipmentFiltersAndSort {
    return parseShipmentListQuery(query, this.places);
  }
}

/** Functions that convert a filter's value to its stored form, for kinds whose values need no shipment field check. */
const FILTER_VALUE_CONVERTERS: {
  readonly [Kind in Exclude<ShipmentFilterKind, CodeKind>]: (
    value: string,
    filter: ShipmentFilterDefinition,
  ) => unknown;
} = {
  ids: (value) => [...new Set(value.split(','))].sort(),
  statuses: (value) => selectKnownValuesOfCommaSeparatedList(SHIPMENT_STATUSES, value),
  flag: (value) => value === 'true',
  modes: (value) => selectKnownValuesOfCommaSeparatedList(TRANSPORT_MODES, value),
  choices: (value, { values = [] }) => selectKnownValuesOfCommaSeparatedList(values, value),
  reference: (value) => value,
  party: (value) => value,
  time: parseTimestamp,
  words: (value) => [...new Set(splitIntoSearchParts(value))].sort(),
};

/** Kinds of filters whose values are checked like fields of a shipment. */
type CodeKind = 'container' | 'carrier' | 'port';

/** Converts the query to filters with values in their stored form. @throws RequestError with every malformed code */
function parseShipmentListQuery(query: ListShipmentsDto, places: PlaceLookup): ShipmentFiltersAndSort {
  const sort = query.sort ?? '-created_at';
  const {
    id: ids,
    q,
    ...filter
  } = { ...readFilterValues(query), ...readCarrierPortAndContainerFilters(query, places) };
  const isPhrase = query.q !== undefined && splitIntoSearchParts(query.q).length > 1;
  const words = [...new Set(splitIntoSearchParts(query.q ?? '').map(foldReference))].sort();
  const values = { ...filter, ...(ids !== undefined && { ids }), ...(q !== undefined && { words: q }) };
  const references = listFilterNamesOfFilterKinds('reference').flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [[name, foldReference(value)] as const];
  });
  // Earlier versions accepted one value of these filters. Cursors that they created stay valid.
  const single = listFilterNamesOfFilterKinds('modes', 'choices').flatMap((name) => {
    const given = filter[name];
    return Array.isArray(given) && given.length === 1 ? [[name, given[0] as unknown] as const] : [];
  });
  return {
    // The cast is safe, because the parser of the filter's kind has created every value.
    filter: { ...values, ...(isPhrase && { phrase: foldReference(query.q ?? '') }) } as ShipmentListFilter,
    cursorFilter: {
      ...values,
      ...Object.fromEntries([...single, ...references]),
      ...(query.q !== undefined && { words }),
    },
    sort,
    order: { field: sort.replace('-', '') as ShipmentSortOrder['field'], descending: sort.startsWith('-') },
  };
}

function readFilterValues(query: ListShipmentsDto): { readonly [Name in ShipmentFilterName]?: unknown } {
  const kinds = Object.keys(FILTER_VALUE_CONVERTERS) as (keyof typeof FILTER_VALUE_CONVERTERS)[];
  const given = listFilterNamesOfFilterKinds(...kinds).flatMap((name) => {
    const value = query[name];
    if (value === undefined) return [];
    const filter: ShipmentFilterDefinition & { readonly kind: (typeof kinds)[number] } = SHIPMENT_FILTERS[name];
    return [[name, FILTER_VALUE_CONVERTERS[filter.kind](value, filter)] as const];
  });
  return Object.fromEntries(given);
}

function readCarrierPortAndContainerFilters(
  query: ListShipmentsDto,
  places: PlaceLookup,
): { readonly [Name in ShipmentFilterName]?: string } {
  const { container_number } = query;
  const given = {
    ...Object.fromEntries(listFilterNamesOfFilterKinds('carrier', 'port').map((name) => [name, query[name]])),
    ...(container_number !== undefined && { container_numbers: [container_number] }),
  };
  const { fields, errors } = checkShipmentFields(given, undefined, places);
  if (errors.length > 0) throw createInvalidRequestError(errors.map(renameErrorToQueryParameter));
  const { container_numbers: containers, ...others } = fields;
  return { ...(others as Record<string, string>), ...(containers?.[0] && { container_number: containers[0] }) };
}

function renameErrorToQueryParameter(error: FieldError): FieldError {
  return { ...error, param: error.param.replace('container_numbers[0]', 'container_number') };
}
