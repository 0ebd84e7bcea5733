import type { RequestOptions, TrackingClient } from '@tracking/client';
import * as z from 'zod';
import { ToolError } from '../api-errors.ts';

/** Dependencies of a tool while it answers one call. */
export interface ToolContext {
  /** Client with the API key of the caller. */
  readonly client: TrackingClient;
  /** Options of every read: they cancel it together with the call of the tool. */
  readonly options: RequestOptions;
  /** Idempotency-Key of the write of this call. */
  readonly idempotencyKey: string;
}

/** A tool that a model can call. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly annotations: ToolAnnotations;
  readonly run: (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<object>;
}

interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** True if the tool makes the service send requests to other systems. */
  readonly openWorldHint: boolean;
}

interface ToolSpec<Input extends z.ZodRawShape> extends Omit<McpTool, 'input' | 'annotations' | 'run'> {
  readonly input: Input;
  readonly run: (args: z.infer<z.ZodObject<Input>>, context: ToolContext) => Promise<object>;
}

/** Defines a tool that changes nothing. */
export function defineReadTool<Input extends z.ZodRawShape>({ input, run, ...tool }: ToolSpec<Input>): McpTool {
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  return { ...tool, annotations, input: z.strictObject(input), run: run as McpTool['run'] };
}

/** Argument of every tool that writes. */
const IDEMPOTENCY_KEY_INPUT = {
  idempotency_key: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/)
    .optional()
    .describe('Only to repeat a call whose outcome is unknown: idempotency_key of its error, with the same arguments.'),
};

/** Defines a tool that writes, which the server offers only with MCP_ALLOW_WRITES=true. */
export function defineWriteTool<Input extends z.ZodRawShape>({
  input,
  run,
  annotations,
  ...tool
}: ToolSpec<Input> & { readonly annotations: Omit<ToolAnnotations, 'readOnlyHint'> }): McpTool {
  return {
    ...tool,
    annotations: { readOnlyHint: false, ...annotations },
    input: z.strictObject({ ...input, ...IDEMPOTENCY_KEY_INPUT }),
    run: ({ idempotency_key: _, ...args }, context) => run(args as Parameters<typeof run>[0], context),
  };
}

/** Options of the write of a call. */
export function createWriteRequestOptions({ options, idempotencyKey }: ToolContext) {
  return { ...options, idempotencyKey };
}

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

export const cursorInputSchema = z
  .string()
  .max(4_000)
  .optional()
  .describe('next_cursor of the previous page, with otherwise the same arguments. Omit it for the first page.');

/** Arguments of every tool that returns a list. */
export const pagingArgumentSchemas = {
  limit: z
    .int()
    .min(1)
    .max(MAX_PAGE_SIZE)
    .default(DEFAULT_PAGE_SIZE)
    .describe('Maximum number of items. A page has fewer if they are large.'),
  cursor: cursorInputSchema,
};

/** Result of a tool that returns a list. */
export function createPageOutputSchema(item: z.ZodType): z.ZodObject {
  return z.object({ items: z.array(item), next_cursor: nextCursorOutputSchema });
}

export const nextCursorOutputSchema = z.string().nullable().describe('cursor of the next page; null on the last page');

/** Argument with the id of a resource. @param prefix of its ids, for example `shp` */
export function createIdInputSchema(prefix: string, hint: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[a-z0-9]{1,64}$`), `must be an id such as ${prefix}_…`)
    .describe(hint);
}

export const shipmentIdInputSchema = createIdInputSchema(
  'shp',
  'Id of the shipment, shp_…. find_shipments returns it.',
);

/** Argument with a time. */
export function createTimeArgumentSchema(description: string) {
  return z.string().max(40).optional().describe(`${description} ISO 8601, for example 2026-11-02T08:00:00Z.`);
}

/** Returns the arguments that are set, in the form that the client accepts. */
export function removeUndefinedArguments<T extends object>(
  args: T,
): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as never;
}

/** @throws ToolError if the arguments would select everything by mistake */
export function requireFiltersOrAll(args: object, all: boolean): void {
  const isFiltered = Object.values(args).some((value) => value !== undefined);
  if (isFiltered === all) {
    throw new ToolError('invalid_request', 'Specify either filters, or all: true without filters.');
  }
}
