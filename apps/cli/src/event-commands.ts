import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Command } from 'commander';
import {
  ENVIRONMENTS,
  type EventEnvelope,
  type EventPage,
  type ExportedEvent,
  type ImportConflict,
  type EventImportResult,
  type Page,
  type Workspace,
} from '@tracking/contracts';
import type { AdministrationClient } from './administration-client.ts';
import { CliError, RefusedError } from './config.ts';
import {
  addEnvironmentOption,
  addEventFilterOptions,
  addLimitOption,
  type CommandInvocation,
  toQueryParameters,
  type Runner,
} from './invocation.ts';
import { type Column, describeEmptyList, type TextOutputStream } from './terminal.ts';

const PRINTED_EVENT_COLUMNS: readonly Column<EventEnvelope>[] = [
  ['ID', ({ id }) => id],
  ['TYPE', ({ type }) => type],
  ['CREATED', ({ created_at }) => created_at],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['SHIPMENT', createEventTextFieldReader('shipment_id')],
  ['EXTERNAL ID', createEventTextFieldReader('external_id')],
];
const MAX_EVENTS_PER_REQUEST = 500;
/** Maximum size of the events of one request as JSON. The service accepts bodies of up to 8 MiB. */
const MAX_BYTES_PER_REQUEST = 4_000_000;
/** Exit code of an import that skipped shipments with conflicts. */
const IMPORT_CONFLICTS_EXIT_CODE = 3;
const IMPORT_CONFLICT_TABLE_COLUMNS: readonly Column<ImportConflict>[] = [
  ['SHIPMENT', ({ shipment_id }) => shipment_id],
  ['EXTERNAL ID', ({ external_id }) => external_id],
  ['WORKSPACE ID', ({ workspace_id }) => workspace_id],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['FROM REVISION', ({ revision }) => revision],
];
/** Argument that stands for standard input or output instead of a file. */
const STANDARD_STREAM_ARGUMENT = '-';

export function addEventCliCommands(events: Command, run: Runner): void {
  addLimitOption(addEventFilterOptions(addEnvironmentOption(events.command('list'))), 'oldest first')
    .description('list the events that are sent to webhook endpoints')
    .action(run(printEvents));
  events
    .command('export')
    .argument('<file>', 'name of the file to create, which must not exist; - for standard output')
    .description('write all shipment events, and the workspaces that they belong to, to a file')
    .action(
      run(async (invocation) => {
        const count = await exportEvents(invocation);
        // Standard output contains the exported events, so the count goes to standard error.
        if (invocation.operand === STANDARD_STREAM_ARGUMENT) invocation.note(`${count} events`);
        else invocation.print.printResult({ events: count }, () => `${count} events`);
      }),
    );
  events
    .command('import')
    .argument('<file>', 'name of a file that events export wrote; - for standard input')
    .description(
      'store the events of a file that are not stored yet; the command can be repeated safely. Shipments that have other events are listed and skipped, and the exit code is then 3',
    )
    .action(
      run(async (invocation) => {
        const { count, conflicts } = await importEvents(invocation);
        invocation.print.printResult({ events: count, conflicts }, () => `${count} events`);
        if (conflicts.length === 0) return;
        invocation.print.printTable(conflicts, IMPORT_CONFLICT_TABLE_COLUMNS);
        const shipments = conflicts.length === 1 ? '1 shipment has' : `${conflicts.length} shipments have`;
        const message = `${shipments} other events in the service; the import skipped the events from the first difference on`;
        throw new CliError(message, 'validation_failed', [], IMPORT_CONFLICTS_EXIT_CODE);
      }),
    );
}

function createEventTextFieldReader(name: string): (event: EventEnvelope) => string | null {
  return (event) => {
    const value = (event.data as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'string' ? value : null;
  };
}

/** Prints the oldest events that match, of one environment or both. */
async function printEvents({ client, print, workspace, options }: CommandInvocation): Promise<void> {
  const { environment, eventType, since, until } = options;
  const limit = Number(options['limit']);
  const pages: Page<EventEnvelope>[] = [];
  for (const each of environment === undefined ? ENVIRONMENTS : [environment]) {
    const query = toQueryParameters({ workspace, environment: each, type: eventType, since, until });
    pages.push(await client.readListItemsPageByPage<Page<EventEnvelope>>('/published_events', query, limit));
  }
  const all = pages.flatMap(({ data }) => data).sort(compareEventsByCreationTime);
  print.printList(all.slice(0, limit), PRINTED_EVENT_COLUMNS, describeEmptyList([workspace]));
  if (all.length > limit || pages.some(({ next_cursor }) => next_cursor !== null))
    print.printTextUnlessJson('more events match; use --limit and --since to see them');
}

/** Compares events by time only. A stable sort then keeps the order of publication among events of the same time. */
function compareEventsByCreationTime(one: EventEnvelope, other: EventEnvelope): number {
  return one.created_at < other.created_at ? -1 : one.created_at > other.created_at ? 1 : 0;
}

/** One JSON line of an export: first all workspaces, then all events, last the number of events. */
type TransferLine =
  { readonly workspace: Workspace } | { readonly event: ExportedEvent } | { readonly end: { readonly events: number } };
type WriteLines = (lines: readonly TransferLine[]) => Promise<unknown>;

/** Writes all events to the named file or to standard output. @returns their number */
async function exportEvents({ client, operand: path, out, beginStream }: CommandInvocation): Promise<number> {
  const text = (lines: readonly TransferLine[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  if (path === STANDARD_STREAM_ARGUMENT) {
    beginStream();
    return exportWorkspacesAndEvents(client, (lines) => writeText(out, text(lines)));
  }
  const file = await open(path, 'wx', 0o600);
  try {
    const count = await exportWorkspacesAndEvents(client, (lines) => file.write(text(lines)));
    await file.sync();
    return count;
  } catch (error) {
    // An incomplete file is useless, and its existence would block the next export.
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function exportWorkspacesAndEvents(client: AdministrationClient, write: WriteLines): Promise<number> {
  const { data } = await client.getJson<{ data: Workspace[] }>('/workspaces');
  await write(data.map((workspace) => ({ workspace })));
  let count = 0;
  let after: string | null = null;
  for (let complete = false; !complete;) {
    const page: EventPage = await client.getJson<EventPage>('/events', after === null ? {} : { after });
    await write(page.events.map((event) => ({ event })));
    count += page.events.length;
    ({ position: after, complete } = page);
  }
  await write([{ end: { events: count } }]);
  return count;
}

/** Writes text to a stream and waits until the stream accepts more. @throws CliError if the reader closed the stream */
function writeText(out: TextOutputStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(text, (error) => {
      if (error) reject(new CliError(`standard output is closed: ${error.message}`));
      else resolve();
    });
  });
}

/**
 * Stores the events of the named file or of standard input. @returns the number of its events that are stored now, and
 * the shipments that have other events and are skipped
 */
async function importEvents(
  invocation: CommandInvocation,
): Promise<{ readonly count: number; readonly conflicts: readonly ImportConflict[] }> {
  const { client, operand: path, input, signal, beginStream } = invocation;
  if (path === STANDARD_STREAM_ARGUMENT) beginStream();
  let pending: ExportedEvent[] = [];
  let bytes = 0;
  let count = 0;
  let read = 0;
  let end: number | undefined;
  const conflicts: ImportConflict[] = [];
  // Streams of shipments with conflicts. Their later events are not sent, because they could be appended to the other
  // events.
  const skippedStreams = new Set<string>();
  const workspaces: string[] = [];
  const send = async () => {
    if (pending.length > 0) {
      const result = await sendImportLines<EventImportResult>(client, '/events', {
        events: pending,
        skip_conflicts: true,
      });
      count += result.stored;
      conflicts.push(...(result.conflicts ?? []));
      for (const { stream } of result.conflicts ?? []) skippedStreams.add(stream);
    }
    pending = [];
    bytes = 0;
  };
  const source = path === STANDARD_STREAM_ARGUMENT ? addAbortSignal(signal, input as Readable) : createReadStream(path);
  for await (const text of splitStreamIntoLines(source)) {
    const line = parseEventTransferFileLine(text);
    if ('workspace' in line) {
      await sendImportLines(client, '/events/workspaces', line.workspace);
      workspaces.push(line.workspace.id);
    }
    if ('end' in line) end = line.end.events;
    if (!('event' in line)) continue;
    const lineBytes = Buffer.byteLength(text);
    read += 1;
    if (pending.length >= MAX_EVENTS_PER_REQUEST || bytes + lineBytes > MAX_BYTES_PER_REQUEST) await send();
    if (skippedStreams.has(line.event.stream)) continue;
    pending.push(line.event);
    bytes += lineBytes;
  }
  await send();
  if (end === read) {
    await sendImportLines(client, '/events/end', { workspaces });
    return { count, conflicts };
  }
  const name = path === STANDARD_STREAM_ARGUMENT ? 'standard input' : path;
  throw new CliError(
    `${name} is incomplete: ${count} events were stored, the last ones are missing`,
    'validation_failed',
  );
}

/** Splits text at line feeds only. `readline` would also split at U+2028, which JSON does not escape. */
async function* splitStreamIntoLines(source: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of source) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

/**
 * Sends lines of the file. If the service rejects them, the file is the cause and not the command's usage, so the error
 * is not a `RefusedError`.
 */
async function sendImportLines<T>(client: AdministrationClient, path: string, body: object): Promise<T> {
  try {
    return await client.postJsonWithRetries<T>(path, body);
  } catch (error) {
    throw error instanceof RefusedError ? new CliError(error.message, error.code, error.details) : error;
  }
}

function parseEventTransferFileLine(text: string): TransferLine {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null) return line as TransferLine;
  } catch {
    // Reported below, like values that are not objects.
  }
  throw new CliError(
    'the file contains a line that is not JSON; use a file that events export wrote',
    'validation_failed',
  );
}
