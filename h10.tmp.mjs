// plans and times of GET /v1/events with N events
import { EmbeddedEngine } from '@tracking/embedded';
import { mkdtempSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { publishedEventsModel } from '/work/main/libs/read-models/dist/published-events/published-event-rows.js';
import { EventQueries } from '/work/main/libs/read-models/dist/published-events/event-queries.js';
const noop = () => {};
const logger = { debug: noop, info: noop, warn: console.log, error: console.log };
const metrics = { counter: () => ({ add: noop }), gauge: () => ({ set: noop }), histogram: () => ({ observe: noop }) };
const dataDir = mkdtempSync('/tmp/h10b/d-');
const e = await EmbeddedEngine.open({ dataDir, logger, metrics });
const rows = await e.documentStore.collection({ name: 'published_events.g1', indexes: publishedEventsModel.indexes, derived: true });
const N = Number(process.argv[2] ?? 400000), START = Date.UTC(2026, 0, 1), STEP = 30 * 86400e3 / N;
const types = ['shipment.created', 'shipment.updated', 'milestone.recorded', 'milestone.recorded', 'milestone.recorded'];
const t0 = performance.now();
for (let i = 0; i < N; i += 2000) {
  await rows.writeMany(Array.from({ length: 2000 }, (_, j) => { const n = i + j; const sh = 'shp_' + (n % 20000); return { kind: 'upsert', guard: { revision: { lt: 1 } }, document: {
    id: 'evt_' + randomUUID(), workspace_id: 'w', environment: 'live', type: n % 50000 === 7 ? 'exception.opened' : types[n % 5], created_at: new Date(START + n * STEP).toISOString(), shipment_id: sh, stream: sh, revision: n, position: n.toString(16).padStart(16, '0') } }; }));
}
console.log('insert µs each', ((performance.now() - t0) * 1000 / N).toFixed(1));
const q = new EventQueries({ rows: async () => rows });
const day = (d, h = 0) => new Date(START + (d * 24 + h) * 3600e3).toISOString();
const scope = { workspace_id: 'w', environment: 'live' };
const lastPos = (N - 100).toString(16).padStart(16, '0');
for (const [name, filter, after] of [
  ['all', {}], ['all, last page', {}, [lastPos]], ['since 29', { since: day(29) }], ['since 29 22h', { since: day(29, 22) }], ['since 2', { since: day(2) }],
  ['until 1', { until: day(1) }], ['until 1, at its end', { until: day(1) }, [(Math.floor(N / 30) - 5).toString(16).padStart(16, '0')]],
  ['15..15.01', { since: day(15), until: day(15, 0.25) }], ['type rare', { type: ['exception.opened'] }], ['type', { type: ['milestone.recorded'], since: day(29) }],
  ['2 types', { type: ['milestone.recorded', 'shipment.created'] }], ['shipment', { shipment_id: 'shp_19999' }], ['shipment type', { shipment_id: 'shp_19999', type: ['milestone.recorded'], since: day(20) }],
]) {
  const times = [];
  let found;
  for (let k = 0; k < 5; k++) { const t = performance.now(); found = await q.list(scope, { filter, limit: 200, after }); times.push(performance.now() - t); }
  console.log(name.padEnd(22), found.items.length, found.next ? 'more' : '', 'ms', times.map((t) => t.toFixed(1)).join(' '));
}
await e.close();
rmSync(dataDir, { recursive: true });
