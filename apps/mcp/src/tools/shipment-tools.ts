import type { MilestoneFields, Shipment } from '@tracking/client';
import {
  MILESTONE_CLASSIFIER_VALUES,
  MILESTONE_CODES,
  MILESTONE_SOURCES,
  TRANSPORT_MODES,
  MILESTONE_REASON_CODES,
  SHIPMENT_STATUSES,
} from '@tracking/contracts';
import * as z from 'zod';
import {
  MAX_RESULT_BYTES,
  createPageOfResourceLists,
  readPageWithinResultSize,
  shortenValueToBytes,
} from '../result-size.ts';
import * as outputs from './outputs.ts';
import {
  cursorInputSchema,
  defineReadTool,
  defineWriteTool,
  pagingArgumentSchemas,
  createPageOutputSchema,
  shipmentIdInputSchema,
  createTimeArgumentSchema,
  type McpTool,
  removeUndefinedArguments,
  createWriteRequestOptions,
} from './tool.ts';

const MAX_TOOL_TEXT_ARGUMENT_LENGTH = 1_000;
const createTextArgumentSchema = (description: string) =>
  z.string().min(1).max(MAX_TOOL_TEXT_ARGUMENT_LENGTH).optional().describe(description);

/** Tools that read shipments and their milestones. */
export const SHIPMENT_TOOLS: readonly McpTool[] = [
  defineReadTool({
    name: 'find_shipments',
    title: 'Find shipments',
    description:
      'Finds shipments by words, references, ports, status, times or exceptions, newest first. Use it first, because ' +
      'the other tools need the id shp_…. For a reference, bill, booking, container or vessel of unknown kind, use q. ' +
      'For a port that you know by name only, use find_places first.',
    input: {
      q: createTextArgumentSchema(
        'At most 10 words. Each must be the beginning of a word in the references, containers, parties or vessels of ' +
          'the shipment. Ports, statuses and carriers have their own arguments.',
      ),
      status: z.array(z.enum(SHIPMENT_STATUSES)).min(1).optional().describe('Only shipments with one of these.'),
      active: z.boolean().optional().describe('true: not yet delivered, completed, returned or cancelled.'),
      has_open_exceptions: z.boolean().optional().describe('true: only shipments with an unresolved problem.'),
      mode: z.array(z.enum(TRANSPORT_MODES)).min(1).optional().describe('Only shipments with one of these.'),
      external_id: createTextArgumentSchema(
        "This external_id, the owner's reference such as PO-1001, in any spelling.",
      ),
      container_number: createTextArgumentSchema('For example MSKU1234565.'),
      booking_number: createTextArgumentSchema('This booking number, in any spelling.'),
      house_bill: createTextArgumentSchema('This house bill, in any spelling.'),
      master_bill: createTextArgumentSchema('This master bill or air waybill, in any spelling.'),
      carrier_scac: createTextArgumentSchema('SCAC or IATA code of the carrier, for example MAEU.'),
      origin_port: createTextArgumentSchema('UN/LOCODE or IATA airport code, for example CNSHA.'),
      destination_port: createTextArgumentSchema('UN/LOCODE or IATA airport code, for example NLRTM.'),
      eta_from: createTimeArgumentSchema('ETA at or after this time.'),
      eta_to: createTimeArgumentSchema('ETA at or before this time.'),
      updated_since: createTimeArgumentSchema('Changed at or after this time.'),
      sort: z
        .enum(['-created_at', 'created_at', '-updated_at', 'updated_at', 'eta', '-eta'])
        .optional()
        .describe('- means descending. Shipments without ETA come last.'),
      ...pagingArgumentSchemas,
    },
    output: createPageOutputSchema(outputs.shipmentSummaryOutputSchema),
    run: ({ limit, cursor, ...filters }, { client, options }) =>
      readPageWithinResultSize(
        (size) => client.shipments.list({ ...removeUndefinedArguments(filters), limit: size }, options),
        { limit, cursor },
        summarizeShipment,
      ),
  }),
  defineReadTool({
    name: 'get_shipment',
    title: 'Get a shipment',
    description:
      'Returns all fields of one shipment: status, times, references, parties, legs, and each container with its free ' +
      'days. Use explain_shipment for the reasons of status and times.',
    input: { shipment_id: shipmentIdInputSchema, cursor: cursorInputSchema },
    output: outputs.shipmentDetailOutputSchema,
    run: async ({ shipment_id, cursor }, { client, options }) => {
      const shipment = await client.shipments.get(shipment_id, options);
      return createPageOfResourceLists(shipment, ['legs', 'containers', 'container_numbers'], shipment.version, cursor);
    },
  }),
  defineReadTool({
    name: 'explain_shipment',
    title: 'Explain status and ETA',
    description:
      'Explains why a shipment has its status, ETA, ETD and actual times: the rule and the milestone behind each value, ' +
      'which milestones count and which do not, and for each exception what opened it and what would resolve it. Use it ' +
      'for questions such as "why is it late" or "why is it not delivered".',
    input: { shipment_id: shipmentIdInputSchema, cursor: cursorInputSchema },
    output: outputs.explanationOutputSchema,
    run: async ({ shipment_id, cursor }, { client, options }) => {
      const explained = await client.shipments.explain(shipment_id, options);
      return createPageOfResourceLists(
        explained,
        ['exceptions', 'containers', 'milestones'],
        explained.version,
        cursor,
      );
    },
  }),
  defineReadTool({
    name: 'get_timeline',
    title: 'Get the timeline',
    description:
      'Lists the milestones of a shipment: what happened when and where. By default only actual milestones; add the ' +
      'classifiers estimated and planned for what is expected.',
    input: {
      shipment_id: shipmentIdInputSchema,
      classifier: z.array(z.enum(MILESTONE_CLASSIFIER_VALUES)).min(1).optional().describe('actual by default.'),
      container_number: createTextArgumentSchema('Only milestones that name this container.'),
      ...pagingArgumentSchemas,
    },
    output: createPageOutputSchema(outputs.milestoneOutputSchema),
    run: ({ shipment_id, limit, cursor, ...filters }, { client, options }) =>
      readPageWithinResultSize(
        (size) => client.milestones.list(shipment_id, { ...removeUndefinedArguments(filters), limit: size }, options),
        { limit, cursor },
        (item) => item,
      ),
  }),
  defineReadTool({
    name: 'get_eta_history',
    title: 'Get the ETA history',
    description:
      'Lists all estimates of the arrival of a shipment with source, reason and delay in hours. Use it to see how often ' +
      'and how far the ETA slipped.',
    input: { shipment_id: shipmentIdInputSchema, ...pagingArgumentSchemas },
    output: createPageOutputSchema(outputs.etaChangeOutputSchema),
    run: ({ shipment_id, limit, cursor }, { client, options }) =>
      readPageWithinResultSize(
        (size) => client.shipments.etaHistory(shipment_id, { limit: size }, options),
        { limit, cursor },
        (item) => item,
      ),
  }),
  defineReadTool({
    name: 'find_places',
    title: 'Find ports and airports',
    description: 'Finds the codes of ports and airports by name, for the port arguments of find_shipments.',
    input: {
      q: z
        .string()
        .min(1)
        .max(MAX_TOOL_TEXT_ARGUMENT_LENGTH)
        .describe('Words of the name, or a code, for example Rotterdam.'),
      limit: pagingArgumentSchemas.limit,
    },
    output: z.object({ items: z.array(outputs.placeOutputSchema) }),
    run: async ({ q, limit }, { client, options }) => {
      const { data } = await client.places.find({ q, limit }, options);
      return shortenValueToBytes({ items: data }, MAX_RESULT_BYTES);
    },
  }),
  defineReadTool({
    name: 'list_milestone_codes',
    title: 'List milestone codes',
    description: 'Lists the codes of milestones with their meaning and the status that each gives a shipment.',
    input: { cursor: cursorInputSchema },
    output: createPageOutputSchema(outputs.milestoneCodeOutputSchema),
    run: async ({ cursor }, { client, options }) => {
      const { data: items } = await client.milestones.codes(options);
      // The catalog changes only when the service is updated.
      return createPageOfResourceLists({ items }, ['items'], items.length, cursor);
    },
  }),
  defineReadTool({
    name: 'get_access',
    title: 'Get workspace and permissions',
    description:
      'Returns the workspace, the environment (live or test), the role and the permissions of the API key in use. Use it ' +
      'after an error about a missing permission.',
    input: {},
    output: outputs.apiKeyAccessOutputSchema,
    run: (_, { client, options }) => client.session.get(options),
  }),
];

function summarizeShipment(shipment: Shipment) {
  const { shipper, consignee, load_type, incoterm, references, metadata, legs, containers, ...summary } = shipment;
  const { status_milestone_id, documents_count, created_at, version, ...shown } = summary;
  return shown;
}

/** Tools that write milestones. The only one records a milestone. */
export const MILESTONE_WRITE_TOOLS: readonly McpTool[] = [
  defineWriteTool({
    name: 'record_milestone',
    title: 'Record a milestone',
    description:
      'Records that something happened to a shipment, or is expected to happen. The service derives status, times and ' +
      'exceptions from it, and sends events to the webhook endpoints. list_milestone_codes lists the codes.',
    annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: true },
    input: {
      shipment_id: shipmentIdInputSchema,
      code: z.enum(MILESTONE_CODES as [string, ...string[]]),
      occurred_at: z
        .string()
        .max(40)
        .describe(
          'ISO 8601 with an offset, for example 2026-11-02T10:30:00+08:00; a date if the milestone is expected.',
        ),
      location: createTextArgumentSchema('UN/LOCODE or IATA airport code, or a name.'),
      classifier: z.enum(MILESTONE_CLASSIFIER_VALUES).optional().describe('actual by default.'),
      container_number: createTextArgumentSchema('If it concerns one container only.'),
      source: z.enum(MILESTONE_SOURCES).optional().describe('Who reported it.'),
      reason_code: z.enum(MILESTONE_REASON_CODES).optional(),
      note: createTextArgumentSchema('A remark for people.'),
      external_id: createTextArgumentSchema(
        "The sender's id of the milestone. Repeating it updates the same milestone.",
      ),
    },
    output: outputs.milestoneOutputSchema.extend({
      warnings: z.array(z.looseObject({ code: z.string(), message: z.string() })),
    }),
    run: ({ shipment_id, ...fields }, context) =>
      context.client.milestones.record(
        shipment_id,
        removeUndefinedArguments(fields) as MilestoneFields,
        createWriteRequestOptions(context),
      ),
  }),
];
