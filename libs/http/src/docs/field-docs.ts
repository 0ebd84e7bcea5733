import { createErrorCodeDocs, type FeatureDocs } from '../http-feature.ts';

/** Codes of single invalid fields, in `details`. */
export const SHARED_FIELD_ERROR_DOCS = {
  required: {
    ...createErrorCodeDocs(
      'The field is missing.',
      '{"occurred_at": "…"} as a milestone',
      'Is required.',
      'Send the field.',
    ),
    param: 'code',
  },
  invalid_type: {
    ...createErrorCodeDocs(
      'The value has the wrong JSON type.',
      '{"mode": 5}',
      'Must be a string.',
      'Send the type that the message names: numbers without quotation marks, text with them.',
    ),
    param: 'mode',
  },
  invalid_value: {
    ...createErrorCodeDocs(
      'The value is not one of the allowed values, which the message lists.',
      '{"mode": "ship"}',
      'Must be one of ocean, air, road, rail, barge, courier, multimodal, sea, vessel, truck.',
      'Send one of the allowed values.',
    ),
    param: 'mode',
  },
  too_long: {
    ...createErrorCodeDocs(
      'The text is too long. The message has the limit.',
      '{"seal_number": "…"} of 200 characters',
      'Must have at most 100 characters.',
      'Shorten the text. Upload longer texts as a document.',
    ),
    param: 'seal_number',
  },
  too_many: {
    ...createErrorCodeDocs(
      'The list has too many elements. The message has the limit.',
      '{"event_types": […]} with 101 types',
      'event_types must not have more than 100 entries.',
      'Send fewer elements.',
    ),
    param: 'event_types',
  },
  unknown_field: {
    ...createErrorCodeDocs(
      'The operation has no field with this name. With Prefer: handling=strict, this is an error; by default, it is a warning.',
      '{"externalid": "PO-1"}',
      'Is not a known field.',
      'Correct the name, or omit the field.',
    ),
    param: 'externalid',
  },
  read_only_field: {
    ...createErrorCodeDocs(
      'The field is read-only: it appears only in responses. With Prefer: handling=strict, this is an error; by default, it is a warning.',
      '{"status": "delivered"}',
      'Is read-only.',
      'Omit the field. For example, the status follows from milestones.',
    ),
    param: 'status',
  },
  unknown_parameter: {
    ...createErrorCodeDocs(
      'The operation has no query parameter with this name.',
      'GET /v1/webhook_replays?endpoint=whe_…',
      'Is not a query parameter of this operation. Allowed: limit, cursor, endpoint_id.',
      'Correct the name. The message lists the parameters of the operation.',
    ),
    param: 'endpoint',
  },
  invalid_timestamp: {
    ...createErrorCodeDocs(
      'The value is not an RFC 3339 time with an offset, or another form that the field allows, between the years 1900 and 2999.',
      '{"etd": "2026-11-02T10:30:00"}',
      'Must have a time zone offset: Z for UTC, or for example +08:00.',
      'Send the time zone offset of the place, or a UTC time with Z.',
    ),
    param: 'etd',
  },
  invalid_date: {
    ...createErrorCodeDocs(
      'The value is not a date such as 2026-12-24.',
      '{"last_free_day": "24.12.2026"}',
      'Must be a date such as 2026-11-21, without a time.',
      'Send year, month and day, without a time.',
    ),
    param: 'last_free_day',
  },
  limit_exceeded: {
    ...createErrorCodeDocs(
      'The limit for elements of a list, or for resources of a shipment, is reached. The message has the limit.',
      'A replay with 51 statuses',
      'Must have at most 50 elements, but has 51.',
      'Split the request, or delete unused resources.',
    ),
    param: 'statuses',
  },
  invalid_cursor: {
    ...createErrorCodeDocs(
      'The cursor does not belong to this list with these filters.',
      '?cursor=abc',
      'Must be a next_cursor of this list, sent with the same filters and sort order.',
      'Send next_cursor unchanged, or start at the first page.',
    ),
    param: 'cursor',
  },
} as const satisfies FeatureDocs['fields'];

/** Codes of warnings: the write was carried out. */
export const WARNING_DOCS = {
  unknown_field: {
    ...createErrorCodeDocs(
      'The body has a field that the operation does not know. The field was ignored.',
      '{"externalid": "PO-1"}',
      'Is not a known field. It was ignored.',
      'Correct the name. To find such mistakes in tests, send Prefer: handling=strict, which refuses them.',
    ),
    param: 'externalid',
  },
  read_only_field: {
    ...createErrorCodeDocs(
      'The body has a read-only field. The field was ignored.',
      '{"status": "delivered"}',
      'Is read-only. It was ignored.',
      'Omit the field. If you send back a resource that you read, you can ignore the warning.',
    ),
    param: 'status',
  },
} as const satisfies FeatureDocs['warnings'];
