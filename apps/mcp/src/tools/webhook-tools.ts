import { DELIVERY_ERROR_CODES, DELIVERY_STATUSES, EVENT_TYPES, type EventType } from '@tracking/contracts';
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
  createIdInputSchema,
  pagingArgumentSchemas,
  createPageOutputSchema,
  requireFiltersOrAll,
  createTimeArgumentSchema,
  type McpTool,
  removeUndefinedArguments,
  createWriteRequestOptions,
} from './tool.ts';

const WEBHOOKS_PERMISSION_NOTE = 'Needs the permission webhooks:manage.';
const MAX_DELIVERY_IDS = 100;
const deliveryIdInputSchema = createIdInputSchema('dlv', 'Id of the delivery, dlv_…. list_deliveries returns it.');
const endpointIdInputSchema = createIdInputSchema(
  'whe',
  'Only this endpoint, whe_…. list_webhook_endpoints returns it.',
).optional();
const eventTypeInputSchema = z.enum(EVENT_TYPES as [EventType, ...EventType[]]);
const deliveryErrorArgumentSchema = z.enum(DELIVERY_ERROR_CODES);
const eventPeriodToolArguments = {
  since: createTimeArgumentSchema('Only events created at or after this time.'),
  until: createTimeArgumentSchema('Only events created at or before this time.'),
};

/** Tools that read webhook endpoints and deliveries. */
export const WEBHOOK_TOOLS: readonly McpTool[] = [
  defineReadTool({
    name: 'list_webhook_endpoints',
    title: 'List webhook endpoints',
    description: `Lists the webhook endpoints of the workspace with their status and event types. ${WEBHOOKS_PERMISSION_NOTE}`,
    input: pagingArgumentSchemas,
    output: createPageOutputSchema(outputs.webhookEndpointOutputSchema),
    run: ({ limit, cursor }, { client, options }) =>
      readPageWithinResultSize(
        (size) => client.webhookEndpoints.list({ limit: size }, options),
        { limit, cursor },
        // The headers of an endpoint may be credentials of the receiver.
        ({ headers: _, ...endpoint }) => endpoint,
      ),
  }),
  defineReadTool({
    name: 'list_deliveries',
    title: 'List webhook deliveries',
    description:
      'Lists deliveries of events to webhook endpoints, newest first, with status and last error. The status dead_lettered ' +
      `means that all attempts failed. ${WEBHOOKS_PERMISSION_NOTE}`,
    input: {
      endpoint_id: endpointIdInputSchema,
      event_id: createIdInputSchema('evt', 'Only deliveries of this event, evt_….').optional(),
      event_type: eventTypeInputSchema.optional(),
      status: z.array(z.enum(DELIVERY_STATUSES)).min(1).optional(),
      reason: deliveryErrorArgumentSchema.optional().describe('Only dead letters with this error code.'),
      ...eventPeriodToolArguments,
      ...pagingArgumentSchemas,
    },
    output: createPageOutputSchema(outputs.webhookDeliveryOutputSchema),
    run: ({ limit, cursor, ...filters }, { client, options }) =>
      readPageWithinResultSize(
        (size) => client.webhookDeliveries.list({ ...removeUndefinedArguments(filters), limit: size }, options),
        { limit, cursor },
        (item) => item,
      ),
  }),
  defineReadTool({
    name: 'get_delivery',
    title: 'Get a webhook delivery',
    description: `Returns one delivery with its event and each attempt with the response of the receiver. ${WEBHOOKS_PERMISSION_NOTE}`,
    input: { delivery_id: deliveryIdInputSchema, cursor: cursorInputSchema },
    output: outputs.webhookDeliveryDetailOutputSchema,
    run: async ({ delivery_id, cursor }, { client, options }) => {
      const delivery = await client.webhookDeliveries.get(delivery_id, options);
      return createPageOfResourceLists(delivery, ['attempts'], delivery.version, cursor);
    },
  }),
  defineReadTool({
    name: 'summarize_dead_letters',
    title: 'Summarize dead letters',
    description:
      'Counts the deliveries that failed permanently, by reason, endpoint and event type. Use it first to see whether ' +
      `deliveries fail. ${WEBHOOKS_PERMISSION_NOTE}`,
    input: {
      endpoint_id: endpointIdInputSchema,
      event_type: z.array(eventTypeInputSchema).min(1).optional(),
      reason: z.array(deliveryErrorArgumentSchema).min(1).optional(),
      ...eventPeriodToolArguments,
    },
    output: outputs.deadLetterSummaryOutputSchema,
    run: async (filters, { client, options }) =>
      shortenValueToBytes(
        await client.webhookDeadLetters.summary(removeUndefinedArguments(filters), options),
        MAX_RESULT_BYTES,
      ),
  }),
];

/** Tools that send deliveries again. */
export const WEBHOOK_DELIVERY_RETRY_TOOLS: readonly McpTool[] = [
  defineWriteTool({
    name: 'retry_delivery',
    title: 'Retry a webhook delivery',
    description: `Attempts one delivery once more, as soon as possible. ${WEBHOOKS_PERMISSION_NOTE}`,
    annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: true },
    input: { delivery_id: deliveryIdInputSchema },
    output: outputs.webhookDeliveryOutputSchema,
    run: ({ delivery_id }, context) =>
      context.client.webhookDeliveries.retry(delivery_id, createWriteRequestOptions(context)),
  }),
  defineWriteTool({
    name: 'replay_dead_letters',
    title: 'Replay dead letters',
    description:
      'Sends deliveries that failed permanently again, oldest first, with one replay for each endpoint. Filter by the ' +
      `values of summarize_dead_letters, or set all. Repair the receiver first. ${WEBHOOKS_PERMISSION_NOTE}`,
    annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: true },
    input: {
      endpoint_id: endpointIdInputSchema,
      event_types: z.array(eventTypeInputSchema).min(1).optional(),
      reasons: z.array(deliveryErrorArgumentSchema).min(1).optional(),
      delivery_ids: z.array(deliveryIdInputSchema).min(1).max(MAX_DELIVERY_IDS).optional(),
      ...eventPeriodToolArguments,
      all: z.boolean().default(false).describe('true: all dead letters of the workspace, without other arguments.'),
    },
    output: outputs.replaysOutputSchema,
    run: async ({ all, ...filters }, context) => {
      requireFiltersOrAll(filters, all);
      const { client } = context;
      const begun = await client.webhookDeadLetters.replay(
        removeUndefinedArguments(filters),
        createWriteRequestOptions(context),
      );
      return shortenValueToBytes(begun, MAX_RESULT_BYTES);
    },
  }),
];
