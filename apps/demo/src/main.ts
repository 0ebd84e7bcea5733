import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TrackingClient, type TrackingEvent } from '@tracking/client';
import { startReceiver, type ReceivedDelivery } from '@tracking/receiver';
import { createDemoServerEnvironment } from './config.ts';
import { createSampleShipmentWithLateDeparture, createSampleOceanShipment } from './journey.ts';
import { startDemoServer } from './server.ts';

const DEMO_EVENT_DEADLINE_MS = 30_000;
const printLine = (line = '') => process.stdout.write(`${line}\n`);

interface ReceivedEventsTracker {
  readonly deliveries: ReceivedDelivery[];
  /** Resolves when this many distinct events have arrived. @throws Error after 30 s */
  reached(count: number): Promise<void>;
  /** Resolves when an event of this type has arrived for the shipment. @throws Error after 30 s */
  told(type: string, shipmentId: string): Promise<void>;
}

function createEventCollector(): ReceivedEventsTracker & { add(delivery: ReceivedDelivery): void } {
  const deliveries: ReceivedDelivery[] = [];
  const waiting = new Set<() => void>();
  const different = () => new Set(deliveries.map((delivery) => delivery.event.id)).size;
  const until = (isThere: () => boolean, whatCame: () => string) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(whatCame())), DEMO_EVENT_DEADLINE_MS);
      const check = () => {
        if (!isThere()) return;
        clearTimeout(timer);
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return {
    deliveries,
    add: (delivery) => {
      deliveries.push(delivery);
      printLine(`        ◄ ${delivery.event.type.padEnd(20)} ${describeDelivery(delivery)}`);
      for (const check of waiting) check();
    },
    reached: (count) =>
      until(
        () => different() >= count,
        () => `the receiver got only ${different()} of ${count} events`,
      ),
    told: (type, shipmentId) =>
      until(
        () => deliveries.some(({ event }) => event.type === type && event.data['shipment_id'] === shipmentId),
        () => `no ${type} of ${shipmentId} came`,
      ),
  };
}

function describeDelivery({ event, verdict, repeated }: ReceivedDelivery): string {
  const data = event.data as Record<string, Record<string, unknown> | undefined>;
  const changes = Object.entries(data['changes'] ?? {}).map(
    ([field, change]) => `${field} → ${formatChangedFieldValue((change as { to: unknown }).to)}`,
  );
  const { type, severity } = data['exception'] ?? {};
  const about =
    data['milestone']?.['code'] ??
    data['document']?.['file_name'] ??
    (type && `${String(type)}, ${String(severity)}`) ??
    changes.join(', ');
  return `${String(about)}  (signature ${verdict}${repeated ? ', repeated' : ''})`;
}

function formatChangedFieldValue(value: unknown): string {
  return typeof value === 'object' && value !== null ? '…' : String(value);
}

function listEventsFromApi(client: TrackingClient): Promise<TrackingEvent[]> {
  return client.events.list().toArray();
}

const dataDir = await mkdtemp(join(tmpdir(), 'tracking-demo-'));
try {
  printLine('Starting a server with a temporary folder …');
  const server = await startDemoServer(dataDir, createDemoServerEnvironment());
  const received = createEventCollector();
  const receiver = await startReceiver({}, received.add);
  try {
    const key = await server.cli('keys', 'create', '--name', 'demo', '--environment', 'test', '--role', 'developer');
    const client = new TrackingClient({ baseUrl: server.url, apiKey: key, transport: { proxy: false } });
    const { shipments, milestones, exceptions, documents, webhookEndpoints } = client;

    printLine(`Registering a webhook endpoint at ${receiver.url}: challenge, verification, enabling …`);
    const endpoint = await webhookEndpoints.create({
      url: receiver.url,
      event_types: ['*', 'exception.updated', 'document.uploaded'],
      description: 'demo',
    });
    receiver.useSecret(endpoint.secret);
    await webhookEndpoints.verify(endpoint.id);
    await webhookEndpoints.enable(endpoint.id);

    const journey = createSampleOceanShipment(new Date());
    printLine('\n   1 ► A transport management system creates the shipment');
    const { id } = await shipments.upsert(journey.shipment);
    for (const [index, step] of journey.steps.entries()) {
      await received.reached((await listEventsFromApi(client)).length);
      printLine(`  ${String(index + 2).padStart(2)} ► ${step.title}`);
      await milestones.record(id, step.milestone);
      const { status, eta, open_exceptions_count } = await shipments.get(id);
      printLine(`        status ${status}, eta ${eta}, open exceptions ${open_exceptions_count}`);
    }

    await received.reached((await listEventsFromApi(client)).length);
    printLine('  19 ► The proof of delivery is uploaded and approved');
    const { id: proof } = await documents.upload(id, {
      type: 'proof_of_delivery',
      file: Buffer.from(`Received in good order: container ${journey.shipment.container_numbers?.join(', ')}.\n`),
      file_name: 'proof-of-delivery.txt',
      content_type: 'text/plain',
    });
    const { status: verdict, content_type } = await documents.approve(proof);
    printLine(`        ${verdict}, ${content_type}, documents ${(await shipments.get(id)).documents_count}`);

    await received.reached((await listEventsFromApi(client)).length);
    printLine('\n  20 ► In two seconds, another shipment is twelve hours overdue; the clock alone detects this');
    const { shipment: late, departure } = createSampleShipmentWithLateDeparture(new Date(), 2_000);
    const waiting = await shipments.upsert(late);
    await received.told('exception.opened', waiting.id);
    for await (const one of exceptions.list({ status: ['open'], sort: '-severity' }))
      printLine(`        to do: ${one.severity} ${one.type}. ${one.detail ?? one.title}`);
    printLine('     ► Its departure is recorded');
    await milestones.record(waiting.id, departure);
    await received.told('exception.resolved', waiting.id);

    const events = await listEventsFromApi(client);
    await received.reached(events.length);
    printLine('\nPublished events and the deliveries at the receiver:\n');
    printLine('  event                 published   received   repeated   signature valid');
    for (const type of [...new Set(events.map((event) => event.type))]) {
      const came = received.deliveries.filter((delivery) => delivery.event.type === type);
      const first = came.filter((delivery) => !delivery.repeated).length;
      const valid = came.filter((delivery) => delivery.verdict === 'valid').length;
      const sent = events.filter((event) => event.type === type).length;
      const cells = [sent, first, came.length - first, valid].map((count) => String(count).padStart(9));
      printLine(`  ${type.padEnd(20)} ${cells.join('  ')}`);
    }
    const { status, atd, ata } = await shipments.get(id);
    printLine(`\nThe shipment is ${status}: it left on ${atd} and arrived on ${ata}.`);
  } finally {
    await receiver.close();
    await server.stop();
  }
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
