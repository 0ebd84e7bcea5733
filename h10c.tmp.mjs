import { EmbeddedEngine } from '@tracking/embedded';
import { Publisher, Shipments } from '@tracking/shipments';
import { ReadModels } from '@tracking/read-models';
import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { mkdtempSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
const noop = () => {};
const logger = { debug: noop, info: noop, warn: (...a) => console.log(...a), error: console.log };
const counts = {};
const metrics = { counter: (n) => ({ add: (k = 1) => (counts[n] = (counts[n] ?? 0) + k) }), gauge: () => ({ set: noop }), histogram: () => ({ observe: noop }) };
const [mode = 'catchup', partitions = '4'] = process.argv.slice(2);
const SH = Number(process.argv[4] ?? 4000);
const dataDir = mkdtempSync('/tmp/h10b/d-');
const e = await EmbeddedEngine.open({ dataDir, logger, metrics });
const { eventStore, documentStore, messageBroker: broker, leases } = e;
await broker.ensureTopics([{ ...SHIPMENT_EVENTS_TOPIC, partitions: Number(partitions) }]);
const places = { find: () => undefined, isUnknown: () => false };
const shipments = new Shipments({ eventStore, places, logger, metrics });
const ctx = () => ({ id: randomUUID(), at: new Date().toISOString(), workspace_id: 'wsp_1', environment: 'live', actor: { type: 'service_account', id: 'sva_1' }, request_id: 'req_1', traceparent: null, strict: false });
const ms = (shipment_id, code, n) => ({ type: 'RecordMilestone', ...ctx(), shipment_id, milestone: { code, occurred_at: new Date(Date.now() - 1e8 + n * 1000).toISOString(), source: 'manual', classifier: 'actual', reason_code: null, location: 'CNSHA', timezone: null, external_id: null, container_number: null, vessel: 'MSC X', voyage: '1W', note: null } });
async function one(n) {
  const { answer } = await shipments.upsert({ type: 'UpsertShipment', ...ctx(), fields: { external_id: 'PO-' + n + randomUUID(), mode: 'ocean', load_type: 'fcl', house_bill: 'HB' + n, container_numbers: ['MSCU1234566', 'CSQU3054383'], carrier_scac: 'MSCU', origin_port: 'CNSHA', destination_port: 'USLAX', etd: '2026-01-01T00:00:00.000Z', eta: '2026-01-20T00:00:00.000Z', shipper: { name: 'Acme', external_id: 'S' }, consignee: { name: 'Widget', external_id: 'C' }, references: [{ type: 'po', value: '1' }] } });
  for (const [i, code] of ['booking_confirmed', 'gated_in', 'loaded_on_vessel', 'vessel_departed'].entries()) await shipments.recordMilestone(ms(answer.shipment.id, code, i));
}
async function fill() { let n = 0; await Promise.all(Array.from({ length: 100 }, async () => { while (n < SH) await one(n++); })); }
const usage = () => ({ c: process.cpuUsage(), m: process.threadCpuUsage(), t: performance.now() });
function report(name, u, k) { const c = process.cpuUsage(u.c), m = process.threadCpuUsage(u.m); console.log(name.padEnd(34), k, 'events; µs per event: total', ((c.user + c.system) / k).toFixed(1), 'main', ((m.user + m.system) / k).toFixed(1), 'wall', ((performance.now() - u.t) * 1000 / k).toFixed(1)); }
const options = { eventStore, documentStore, broker, leases, logger, metrics, clock: () => new Date(), appUrl: 'https://app.example.com' };
const until = async (f) => { while (!(await f())) await new Promise((r) => setTimeout(r, 5)); };
if (mode === 'catchup') {
  await fill();
  const head = await eventStore.head();
  const N = parseInt(head, 16);
  for (let k = 0; k < 2; k++) {
    const u = usage();
    // reading alone, as every subscriber pays it
    for await (const b of eventStore.catchUp({ streamPrefixes: ['shipment-'], signal: new AbortController().signal })) if (b.caughtUp) break;
    report('catch-up alone', u, N);
  }
  counts.publisher_events_published_total = 0;
  const u = usage();
  const p = Publisher.start({ ...options, readModelsReached: async () => true });
  const cps = await documentStore.collection({ name: 'subscription_checkpoints', indexes: [{ name: 'by_subscriber', fields: ['subscriber', 'generation'] }], derived: true });
  await until(async () => (await cps.get('publisher/1/shipment-'))?.position === head);
  report('publisher, catching up', u, N);
  console.log('published', counts.publisher_events_published_total);
  await p.stop();
} else {
  const withModels = mode.includes('models'), withPublisher = mode.includes('publisher');
  const rm = withModels ? await ReadModels.start({ eventStore, documentStore, leases, logger, metrics, clock: () => new Date() }) : undefined;
  await rm?.ready;
  const p = withPublisher ? Publisher.start({ ...options, readModelsReached: (pos, ms) => (rm ? rm.allReached(pos, ms) : Promise.resolve(true)) }) : undefined;
  const u = usage();
  await fill();
  const head = await eventStore.head();
  const N = parseInt(head, 16);
  const w = performance.now();
  if (rm) await until(() => rm.allReached(head, 1000));
  const cps = await documentStore.collection({ name: 'subscription_checkpoints', indexes: [{ name: 'by_subscriber', fields: ['subscriber', 'generation'] }], derived: true });
  if (p) await until(async () => (await cps.get('publisher/1/shipment-'))?.position === head);
  console.log('drained after', (performance.now() - w).toFixed(0), 'ms; published', counts.publisher_events_published_total);
  report(mode, u, N);
  await p?.stop(); await rm?.stop();
}
await e.close(); rmSync(dataDir, { recursive: true });
