import { createInterface } from 'node:readline';
import { type Command, InvalidArgumentError } from 'commander';
import type { EventType } from '@tracking/client';
import type { EventEnvelope, JsonValue } from '@tracking/contracts';
import { type DeliveryHandler, type ReceivedDelivery, startReceiver, type WebhookReceiver } from '@tracking/receiver';
import {
  addPublicApiOptions,
  deleteEndpointsOfKilledListenCommands,
  LISTEN_COMMAND_ENDPOINT_MARKER,
  createNotSubscribedError,
  type PublicApiClient,
  createPublicApiClient,
  resendEvent,
  formatResendResult,
} from './public-api.ts';
import { CliError, RefusedError, UsageError } from './config.ts';
import {
  parseForwardAddress,
  type ForwardedDeliveryResult,
  WebhookDeliveryForwarder,
  parseSigningSecret,
} from './forwarder.ts';
import type { CommandInvocation, LocalRunner } from './invocation.ts';

/** Error codes of a verification that the service's settings cause, and not the receiver. */
const FORBIDDEN_URL_CODES: ReadonlySet<string> = new Set(['address_not_allowed', 'url_not_allowed']);
const GONE_STATUS = 410;

export function addListenCommand(listen: Command, run: LocalRunner, apiKey: string | undefined): void {
  addPublicApiOptions(listen)
    .description('receive webhooks on this machine and print or forward them; the API key selects the workspace')
    .option('--events <types>', 'event types, separated by commas; * for the six standard types', '*')
    .option('--port <port>', 'port on this machine to listen on; a free port by default', parsePortNumber, 0)
    .option(
      '--forward-to <address>',
      'URL of your server, such as http://localhost:8080/hooks, whose response is returned to the service',
      parseForwardAddress,
    )
    .option(
      '--secret <whsec>',
      'sign forwarded deliveries with this secret, so that your server keeps its own',
      parseSigningSecret,
    )
    .action(
      run(async (invocation) => {
        const { events, port, forwardTo, secret } = invocation.options;
        if (secret !== undefined && forwardTo === undefined) throw new UsageError('--secret requires --forward-to');
        const api = createPublicApiClient(invocation, apiKey);
        const forwarder =
          forwardTo === undefined
            ? undefined
            : new WebhookDeliveryForwarder(String(forwardTo), secret as string | undefined);
        const listening = { event_types: String(events).split(',') as EventType[], port: Number(port), forwarder };
        await new ListenSession(api, listening, invocation).receiveWebhookEventsUntilAborted();
      }),
    );
}

function parsePortNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Expected a port number from 0 to 65535.');
  return Number(text);
}

interface ListenCommandOptions {
  readonly event_types: EventType[];
  readonly port: number;
  readonly forwarder: WebhookDeliveryForwarder | undefined;
}

/** Receiver on this machine and its endpoint. The endpoint is deleted when the command ends. */
class ListenSession {
  private lastEvent: string | undefined;

  constructor(
    private readonly api: PublicApiClient,
    private readonly options: ListenCommandOptions,
    private readonly invocation: Pick<CommandInvocation, 'print' | 'note' | 'signal' | 'input' | 'out'>,
  ) {}

  async receiveWebhookEventsUntilAborted(): Promise<void> {
    const { print } = this.invocation;
    const receiver = await startReceiver({ port: this.options.port }, this.received);
    try {
      const { id, secret } = await this.createEndpoint(receiver);
      try {
        await this.enableEndpoint(id, receiver.url);
        for (const left of await deleteEndpointsOfKilledListenCommands(this.api, { id, url: receiver.url })) {
          const deleted = { endpoint_id: left, deleted: true };
          print.printResult(
            deleted,
            () => `${left} is deleted: the listen command that created it ended without deleting it`,
          );
        }
        this.printListeningStarted(id, receiver.url, secret);
        await this.readAndRunTerminalCommands(id);
      } finally {
        // A failed deletion is printed, not thrown, because it would replace the error that ended the command.
        await this.api.receive(this.api.client.webhookEndpoints.delete(id)).catch(({ message }: Error) => {
          const left = { endpoint_id: id, error: message };
          print.printResult(left, () => `${id} could not be deleted; delete it yourself: ${message}`);
        });
      }
    } finally {
      await receiver.close();
    }
  }

  private readonly received: DeliveryHandler = (delivery, request) => {
    const { print } = this.invocation;
    const { forwarder } = this.options;
    if (delivery.verdict === 'valid') this.lastEvent = delivery.event.id;
    const { receivedAt: received_at, ...rest } = delivery;
    const result = { ...rest, received_at };
    if (forwarder === undefined || delivery.verdict !== 'valid') {
      return print.printResult(result, () => formatReceivedDelivery(delivery));
    }
    return forwarder.forwardDeliveryToLocalServer(request).then(({ answer, forwarded }) => {
      print.printResult({ ...result, forwarded }, () => formatForwardedDelivery(delivery, forwarded, forwarder.url));
      return answer;
    });
  };

  private async createEndpoint(receiver: WebhookReceiver): Promise<{ readonly id: string; readonly secret: string }> {
    const { client, receive } = this.api;
    const fields = {
      url: receiver.url,
      event_types: this.options.event_types,
      description: LISTEN_COMMAND_ENDPOINT_MARKER,
    };
    try {
      const endpoint = await receive(client.webhookEndpoints.create(fields));
      receiver.useSecret(endpoint.secret);
      return endpoint;
    } catch (error) {
      const isUrlError = error instanceof RefusedError && error.details.some(({ param }) => param === 'url');
      throw isUrlError ? createLocalDeliveryForbiddenByServiceError(error.message) : error;
    }
  }

  private async enableEndpoint(id: string, receiverUrl: string): Promise<void> {
    const { client, receive } = this.api;
    const { last_verification } = await receive(client.webhookEndpoints.verify(id));
    const error = last_verification?.error;
    if (error && FORBIDDEN_URL_CODES.has(error.code)) throw createLocalDeliveryForbiddenByServiceError(error.message);
    if (error)
      throw new CliError(
        `the service received no valid response to its challenge from ${receiverUrl}: ${error.message}`,
      );
    await receive(client.webhookEndpoints.enable(id));
  }

  private printListeningStarted(endpoint_id: string, url: string, secret: string): void {
    const { forwarder, event_types } = this.options;
    const { print, input, out } = this.invocation;
    const about = { endpoint_id, url, event_types };
    const types = event_types.join(', ');
    if (forwarder === undefined) {
      print.printResult(about, () => `${endpoint_id} listens at ${url} for ${types}; press Ctrl-C to stop`);
    } else {
      const text = `${endpoint_id} forwards to ${forwarder.url} events of type ${types}; press Ctrl-C to stop`;
      // The command does not print the endpoint's secret if a server uses its own secret.
      const secretFields = forwarder.hasOwnSecret ? {} : { secret };
      print.printResult({ ...about, forward_to: forwarder.url, ...secretFields }, () => text);
      if (!forwarder.hasOwnSecret) print.printTextUnlessJson(`Your server checks signatures with ${secret}`);
    }
    if (isTerminalStream(input) && isTerminalStream(out))
      print.printTextUnlessJson(
        'Type "resend" to send the last event again, "resend evt_…" for another event, or "test TYPE" for an example event.',
      );
  }

  private async readAndRunTerminalCommands(id: string): Promise<void> {
    const { print, note, input, out, signal } = this.invocation;
    const { client, receive } = this.api;
    const commands = new Map([
      [
        'resend',
        async (event = this.lastEvent) => {
          if (event === undefined) throw new UsageError('no event received yet: specify an event, evt_…');
          const sent = await resendEvent(this.api, id, event, signal);
          if (sent === undefined) throw createNotSubscribedError(event, [id]);
          print.printResult(sent, formatResendResult);
        },
      ],
      [
        'test',
        async (type = '') => {
          await receive(client.webhookEndpoints.test(id, type as EventType));
        },
      ],
    ]);
    const report = (message: string) => note(`error: ${message}`);
    // Commands are read only at a terminal in the foreground: a shell stops a background job that reads from the
    // terminal.
    if (isTerminalStream(out) || !isTerminalStream(input))
      void runTypedCommandLines(input, commands, signal, report).catch(({ message }: Error) => report(message));
    await waitForAbort(signal);
  }
}

function createLocalDeliveryForbiddenByServiceError(reason: string): CliError {
  return new CliError(
    `the service does not deliver to this machine (${reason}): start it with npm run dev to allow that`,
  );
}

function isTerminalStream(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Formats a delivery that is not forwarded. */
function formatReceivedDelivery({ event, verdict, repeated, receivedAt }: ReceivedDelivery): string {
  const at = receivedAt.toISOString();
  // Content without a valid signature may be forged, so the command does not show it.
  if (verdict !== 'valid') return `${at}  refused  (signature ${verdict})`;
  return `${at}  ${formatEvent(event)}  (signature valid${repeated ? ', repeated' : ''})`;
}

/** Formats a delivery that was forwarded. */
function formatForwardedDelivery(
  { event, repeated, receivedAt }: ReceivedDelivery,
  forwarded: ForwardedDeliveryResult,
  url: string,
): string {
  return `${receivedAt.toISOString()}  ${formatEvent(event)}  → ${formatForwardResult(event, forwarded, url)}${repeated ? '  (repeated)' : ''}`;
}

function formatForwardResult(
  { sandbox }: EventEnvelope,
  { status_code: status, duration_ms, error }: ForwardedDeliveryResult,
  url: string,
): string {
  if (status === null) return `no response from ${url} after ${duration_ms} ms: ${error}`;
  const answered = `${status} in ${duration_ms} ms`;
  if (status >= 200 && status < 300) return answered;
  // A 410 response to a sandbox event does not disable the endpoint.
  if (status === GONE_STATUS && !sandbox)
    return `${answered}: the service disables the endpoint and sends nothing more; start listen again`;
  return `${answered}: failed${status >= 300 && status < 400 ? ' (redirects are not followed)' : ''}`;
}

function formatEvent(event: EventEnvelope): string {
  return `${event.type.padEnd(20)}  ${event.id}  ${describeEventSubject(event)}`;
}

/** Returns a short description of an event's subject. */
function describeEventSubject({ data }: EventEnvelope): string {
  const { shipment_id, external_id, milestone, exception, changes } = data as Readonly<
    Record<string, Readonly<Record<string, JsonValue>> | string | null | undefined>
  >;
  const of = (value: typeof milestone, name: string) => (typeof value === 'object' ? value?.[name] : undefined);
  const subject = of(milestone, 'code') ?? of(exception, 'type') ?? Object.keys(changes ?? {}).join(', ');
  return [external_id ?? shipment_id, subject].filter((part) => part !== undefined && part !== '').join(' ');
}

/** Commands that a user may type, by their first word. Each command receives the second word. */
type TypedCommands = ReadonlyMap<string, (argument: string | undefined) => Promise<void>>;

/**
 * Runs typed commands one after the other, until the input ends or `signal` aborts.
 * @param report receives the error of a command
 */
async function runTypedCommandLines(
  input: NodeJS.ReadableStream,
  commands: TypedCommands,
  signal: AbortSignal,
  report: (message: string) => void,
): Promise<void> {
  const lines = createInterface({ input, terminal: false });
  const failed = ({ message }: Error) => {
    // The end of the command interrupts the current attempt. That is not an error.
    if (!signal.aborted) report(message);
  };
  const close = () => lines.close();
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const line of lines) {
      const [name = '', argument] = line.trim().split(/\s+/);
      const command = commands.get(name);
      if (command) await command(argument).catch(failed);
      else if (name !== '') report(`unknown command ${name}; available: ${[...commands.keys()].join(', ')}`);
    }
  } finally {
    signal.removeEventListener('abort', close);
  }
}
