import { EmbeddedEngine } from '@tracking/embedded';
import { mkdtempSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { publishedEventsModel } from '/work/main/libs/read-models/dist/published-events/published-event-rows.js';
const noop = () => {};
const logger = { debug: noop, info: noop, warn: console.log, error: console.log };
const metrics = { counter: () => ({ add: noop }), gauge: () => ({ set: noop }), histogram: () => ({ observe: noop }) };
const N = 60000, types = ['shipment.created', 'shipment.updated', 'milestone.recorded'];
const all = publishedEventsModel.indexes;
for (const [name, keep, mode] of [['all', all, 'upsert'], ['all', all, 'insert'], ['none', [], 'upsert'], ['position', all.slice(0, 1), 'upsert'], ['pos+type', all.slice(0, 2), 'upsert'], ['pos+shipment', [all[0], all[2]], 'upsert'], ['pos+time', [all[0], all[3]], 'upsert'], ['all', all, 'upsert']]) {
  const dataDir = mkdtempSync('/tmp/h10b/d-');
  const e = await EmbeddedEngine.open({ dataDir, logger, metrics });
  const rows = await e.documentStore.collection({ name: 'p.g1', indexes: keep, derived: true });
  const doc = (n) => { const sh = 'shp_' + randomUUID().slice(0, 3); return { id: 'evt_' + randomUUID(), workspace_id: 'wsp_1234567890', environment: 'live', type: types[n % 3], created_at: new Date(1.77e12 + n * 1000).toISOString(), shipment_id: sh, stream: sh, revision: n, position: n.toString(16).padStart(16, '0') }; };
  for (let i = 0; i < 20000; i += 100) await rows.writeMany(Array.from({ length: 100 }, (_, j) => ({ kind: 'upsert', guard: { revision: { lt: 1 } }, document: doc(i + j) })));
  const c0 = process.cpuUsage(), m0 = process.threadCpuUsage(), t0 = performance.now();
  for (let i = 20000; i < N; i += 100) await rows.writeMany(Array.from({ length: 100 }, (_, j) => (mode === 'upsert' ? { kind: 'upsert', guard: { revision: { lt: 1 } }, document: doc(i + j) } : { kind: 'insert', document: doc(i + j) })));
  const c = process.cpuUsage(c0), m = process.threadCpuUsage(m0), k = N - 20000;
  console.log(name.padEnd(14), mode, 'total cpu µs', ((c.user + c.system) / k).toFixed(1), 'main', ((m.user + m.system) / k).toFixed(1), 'wall', ((performance.now() - t0) * 1000 / k).toFixed(1));
  await e.close(); rmSync(dataDir, { recursive: true });
}
