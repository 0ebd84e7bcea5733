import { EmbeddedEngine } from '@tracking/embedded';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
const noop = () => {};
const logger = { debug: noop, info: noop, warn: console.log, error: console.log };
const hist: Record<string, number[]> = {};
const metrics = { counter: () => ({ add: noop }), gauge: () => ({ set: noop }), histogram: (n: string) => ({ observe: (v: number, l: object = {}) => { (hist[n + JSON.stringify(l)] ??= []).push(v); } }) };
const dataDir = mkdtempSync('/tmp/h1p-');
const e = await EmbeddedEngine.open({ dataDir, logger, metrics });
const pad = 'x'.repeat(600);
const pct = (a: number[], p: number) => a.sort((x, y) => x - y)[Math.min(a.length - 1, Math.floor(a.length * p))]?.toFixed(2);
const spec = { name: 's', derived: true, indexes: [{ name: 'list', fields: ['ws', 'env', 'created_at', 'id'] }, { name: 'st', fields: ['ws', 'env', 'status', 'created_at', 'id'] }, { name: 'ext', fields: ['ws', 'env', 'ext'], unique: true }] };
const col = await e.documentStore.collection<any>(spec);
const stop = new AbortController();
let lagMax = 0, projected = 0;
const proj = (async () => { for await (const b of e.eventStore.catchUp({ streamPrefixes: ['shipment-'], signal: stop.signal })) {
  await col.writeMany(b.events.map((ev) => ({ kind: 'upsert' as const, guard: { version: { lt: 1 } }, document: { id: ev.stream, ws: 'w', env: 'live', status: 'pending', created_at: String((ev.data as any).at), ext: ev.stream, pad: pad + pad, version: 1 } })));
  projected += b.events.length; const last = b.events.at(-1); if (last) lagMax = Math.max(lagMax, performance.now() - (last.data as any).at);
} })();
const rate = Number(process.argv[2] ?? 2000), seconds = Number(process.argv[3] ?? 15); const lat: number[] = []; let sent = 0; const start = performance.now(); const pending: Promise<void>[] = []; let walMax = 0;
while (performance.now() - start < seconds * 1000) {
  const due = Math.floor((performance.now() - start) / 1000 * rate);
  while (sent < due) { sent++; const s = performance.now(); pending.push(e.eventStore.append('shipment-' + randomUUID(), 'no_stream', [{ id: randomUUID(), type: 'a.v1', data: { at: s, pad }, metadata: { c: 1 } }]).then(() => { lat.push(performance.now() - s); })); }
  walMax = Math.max(walMax, statSync(dataDir + '/storage.db-wal').size);
  await new Promise((r) => setTimeout(r, 1));
}
await Promise.all(pending); stop.abort(); await proj;
console.log(`rate ${rate}: acked ${lat.length} p50 ${pct(lat, .5)} p99 ${pct(lat, .99)} p99.9 ${pct(lat, .999)} max ${pct(lat, 1)} ms; projected ${projected} lag max ${lagMax.toFixed(0)} wal ${(walMax / 1e6).toFixed(0)}MB`);
for (const [k, v] of Object.entries(hist).filter(([k]) => k.includes('seconds'))) console.log(k, v.length, 'p50', pct(v.map(x => x * 1000), .5), 'p99', pct(v.map(x => x * 1000), .99), 'max', pct(v.map(x => x * 1000), 1));
await e.close(); rmSync(dataDir, { recursive: true });
