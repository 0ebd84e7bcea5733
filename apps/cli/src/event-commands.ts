import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { EventPage, ExportedEvent, Workspace } from '@tracking/contracts';
import type { Command } from 'commander';
import type { AdministrationClient } from './administration-client.ts';
import { CliError } from './cli-error.ts';
import type { Runner } from './invocation.ts';

/** Each line of a file is one of these, as JSON: first the workspaces, then the events, last how many those were. */
type Line =
  { readonly workspace: Workspace } | { readonly event: ExportedEvent } | { readonly end: { readonly events: number } };

const EVENTS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 4_000_000;

export function addEventCommands(events: Command, run: Runner): void {
  const counted = (work: (client: AdministrationClient, path: string) => Promise<number>) =>
    run(async ({ client, print, operand }) => {
      const count = await work(client, operand);
      print.one({ events: count }, () => `${count} events`);
    });
  events
    .command('export')
    .argument('<file>', 'is made; must not be there')
    .description('write the events of all shipments to a file, with the workspaces that they name')
    .action(counted(exported));
  events
    .command('import')
    .argument('<file>', 'as export made it')
    .description('store the events of a file that are not there yet; may be repeated')
    .action(counted(imported));
}

async function exported(client: AdministrationClient, path: string): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  const write = (lines: readonly Line[]) => file.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  try {
    const { data } = await client.get<{ data: Workspace[] }>('/workspaces');
    await write(data.map((workspace) => ({ workspace })));
    let count = 0;
    let after: string | null = null;
    for (let complete = false; !complete;) {
      const page: EventPage = await client.get<EventPage>('/events', after === null ? {} : { after });
      await write(page.events.map((event) => ({ event })));
      count += page.events.length;
      ({ position: after, complete } = page);
    }
    await write([{ end: { events: count } }]);
    await file.sync();
    return count;
  } finally {
    await file.close();
  }
}

async function imported(client: AdministrationClient, path: string): Promise<number> {
  let waiting: ExportedEvent[] = [];
  let characters = 0;
  let count = 0;
  let end: number | undefined;
  const send = async () => {
    if (waiting.length > 0) await client.post('/events', { events: waiting });
    count += waiting.length;
    waiting = [];
    characters = 0;
  };
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const line = parsed(text);
    if ('workspace' in line) await client.post('/events/workspaces', line.workspace);
    if ('end' in line) end = line.end.events;
    if (!('event' in line)) continue;
    if (waiting.length >= EVENTS_AT_ONCE || characters + text.length > CHARACTERS_AT_ONCE) await send();
    waiting.push(line.event);
    characters += text.length;
  }
  await send();
  if (end !== count) throw new CliError(`${path} is not whole: ${count} events were stored, the last ones are missing`);
  return count;
}

function parsed(text: string): Line {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null) return line as Line;
  } catch {
    // Told below.
  }
  throw new CliError('a line of the file is not JSON: is it one that export made?');
}
