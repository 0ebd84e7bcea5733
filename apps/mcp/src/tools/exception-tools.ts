import { EXCEPTION_STATUSES, EXCEPTION_TYPES, MANUAL_RESOLUTION_CODES, SEVERITIES } from '@tracking/contracts';
import * as z from 'zod';
import { MAX_RESULT_BYTES, readPageWithinResultSize, shortenValueToBytes } from '../result-size.ts';
import * as outputs from './outputs.ts';
import {
  defineReadTool,
  defineWriteTool,
  createIdInputSchema,
  pagingArgumentSchemas,
  createPageOutputSchema,
  shipmentIdInputSchema,
  createTimeArgumentSchema,
  type McpTool,
  removeUndefinedArguments,
  createWriteRequestOptions,
} from './tool.ts';

const MAX_NOTE_CHARS = 1_000;
const exceptionIdInputSchema = createIdInputSchema('exc', 'Id of the exception, exc_…. list_exceptions returns it.');
const noteArgumentSchema = z.string().min(1).max(MAX_NOTE_CHARS).optional().describe('A remark for people.');

/** Tools that read exceptions. */
export const EXCEPTION_TOOLS: readonly McpTool[] = [
  defineReadTool({
    name: 'list_exceptions',
    title: 'List exceptions',
    description:
      'Lists problems of shipments, such as late departures, missed connections, customs holds and demurrage risks, newest ' +
      'first. Set shipment_id for the problems of one shipment. Set status to open and acknowledged for unresolved ones.',
    input: {
      shipment_id: shipmentIdInputSchema.optional(),
      status: z.array(z.enum(EXCEPTION_STATUSES)).min(1).optional(),
      type: z.array(z.enum(EXCEPTION_TYPES)).min(1).optional(),
      severity: z.array(z.enum(SEVERITIES)).min(1).optional(),
      assignee: z.string().min(1).max(MAX_NOTE_CHARS).optional().describe('Exactly this assignee.'),
      unassigned: z.boolean().optional().describe('true: only exceptions without an assignee.'),
      opened_from: createTimeArgumentSchema('Opened at or after this time.'),
      opened_to: createTimeArgumentSchema('Opened at or before this time.'),
      sort: z.enum(['-opened_at', 'opened_at', '-severity']).optional().describe('-severity is most severe first.'),
      ...pagingArgumentSchemas,
    },
    output: createPageOutputSchema(outputs.exceptionOutputSchema),
    run: ({ limit, cursor, ...filters }, { client, options }) =>
      readPageWithinResultSize(
        (size) => client.exceptions.list({ ...removeUndefinedArguments(filters), limit: size }, options),
        { limit, cursor },
        (item) => item,
      ),
  }),
  defineReadTool({
    name: 'get_exception',
    title: 'Get an exception',
    description:
      'Returns one problem of a shipment with its measured values and its resolution. Use explain_shipment to see what ' +
      'would resolve it.',
    input: { exception_id: exceptionIdInputSchema },
    output: outputs.exceptionOutputSchema,
    run: async ({ exception_id }, { client, options }) =>
      shortenValueToBytes(await client.exceptions.get(exception_id, options), MAX_RESULT_BYTES),
  }),
];

/** Tools that change exceptions. */
export const EXCEPTION_WRITE_TOOLS: readonly McpTool[] = [
  defineWriteTool({
    name: 'acknowledge_exception',
    title: 'Acknowledge an exception',
    description: 'Marks an open problem as seen, and optionally assigns it to somebody or adds a note.',
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input: {
      exception_id: exceptionIdInputSchema,
      assignee: z
        .string()
        .min(1)
        .max(MAX_NOTE_CHARS)
        .optional()
        .describe('Name or e-mail address of the person in charge.'),
      note: noteArgumentSchema,
    },
    output: outputs.exceptionOutputSchema,
    run: async ({ exception_id, ...words }, context) => {
      const { client } = context;
      const changed = await client.exceptions.acknowledge(
        exception_id,
        removeUndefinedArguments(words),
        createWriteRequestOptions(context),
      );
      return shortenValueToBytes(changed, MAX_RESULT_BYTES);
    },
  }),
  defineWriteTool({
    name: 'resolve_exception',
    title: 'Resolve an exception',
    description:
      'Closes a problem by hand. The rule that opened it opens no other one until its cause has ended once. This cannot be ' +
      'undone. Problems whose cause ends are resolved without this tool.',
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: true },
    input: {
      exception_id: exceptionIdInputSchema,
      code: z.enum(MANUAL_RESOLUTION_CODES).describe('How it was resolved.'),
      note: noteArgumentSchema,
    },
    output: outputs.exceptionOutputSchema,
    run: async ({ exception_id, ...words }, context) => {
      const { client } = context;
      const changed = await client.exceptions.resolve(
        exception_id,
        removeUndefinedArguments(words),
        createWriteRequestOptions(context),
      );
      return shortenValueToBytes(changed, MAX_RESULT_BYTES);
    },
  }),
];
