import { randomUUID } from 'node:crypto';
import { ACME, token, shipmentRecord, milestone, newEvent } from './shipment-events.ts';
import { World } from './world.ts';
const world = await World.open();
const N = Number(process.argv[2] ?? 20000);
const containers = ['MSKU1234565','TEMU0000004'];
const container = (number: string) => ({ number, valid_check_digit: true, size_type: '22G1', seal_number: null, status: 'pending' as const, status_milestone_id: null, last_milestone: null, discharged_at: null, available_at: null, gated_out_at: null, delivered_at: null, empty_returned_at: null, last_free_day: null, empty_return_by: null });
const t0 = performance.now();
let pending: Promise<unknown>[] = [];
for (let n = 0; n < N; n += 1) {
  const s = shipmentRecord(n, { external_id: `PO-${n}`, house_bill: `HB-${n}`, container_numbers: containers, containers: containers.map(container), references: [{type:'po', value:'12345'}] });
  pending.push(world.engine.eventStore.append(`shipment-${token(n)}`, 'no_stream', [newEvent({ type: 'shipment.created.v1', data: { ...ACME, shipment: s, sent: { etd: null, eta: null, legs: [] } } })]));
  if (pending.length === 500) { await Promise.all(pending); pending = []; }
}
await Promise.all(pending); pending = [];
for (let round = 0; round < 2; round += 1) for (let n = 0; n < N; n += 1) {
  pending.push(world.engine.eventStore.append(`shipment-${token(n)}`, round * 2, [
    newEvent({ type: 'milestone.recorded.v1', data: { milestone: milestone(n, String(round)), supersedes: [], last: { shipment: { id: `mst_${token(n)}${round}`, code: 'gated_in', label: 'Gated in', occurred_at: '2026-03-02T08:00:00.000Z', location: null }, containers: [] } } }),
    newEvent({ type: 'shipment.changed.v1', data: { changes: { status: { from: 'pending', to: round ? 'in_transit' : 'at_origin' } } } }),
  ]));
  if (pending.length === 500) { await Promise.all(pending); pending = []; }
}
await Promise.all(pending);
console.log('written', N * 5, 'events in', Math.round(performance.now() - t0));
const { monitorEventLoopDelay } = await import('node:perf_hooks');
const delay = monitorEventLoopDelay({ resolution: 1 }); delay.enable();
const cpu0 = process.cpuUsage();
const t1 = performance.now();
const models = await world.start();
const head = (await world.engine.eventStore.head())!;
const [a, b] = await Promise.all((['shipments', 'milestones'] as const).map(async (m) => { while (!(await models.progress.reached(m, head, 1000))); return performance.now() - t1; }));
const cpu = process.cpuUsage(cpu0);
console.log('caught up: shipments', Math.round(a!), 'milestones', Math.round(b!), 'ms; events/s per model', Math.round(N * 5 / a! * 1000), Math.round(N*5/b!*1000), 'cpu ms', Math.round((cpu.user + cpu.system) / 1000), 'loop delay p99/max ms', delay.percentile(99)/1e6, delay.max/1e6);
delay.disable();
// rebuild
const t2 = performance.now(); await models.rebuild('shipments'); while ((await models.list())[0]?.generation !== 2) await new Promise(r => setTimeout(r, 20)); console.log('rebuild shipments', Math.round(performance.now() - t2), 'ms');
// live lag
const lags: number[] = [];
for (let i = 0; i < 300; i += 1) { const n = N + i; const p = await world.engine.eventStore.append(`shipment-${token(n)}`, 'no_stream', [newEvent({ type: 'shipment.created.v1', data: { ...ACME, shipment: shipmentRecord(n), sent: { etd: null, eta: null, legs: [] } } })]); const s = performance.now(); await models.progress.reached('shipments', p.position, 5000); lags.push(performance.now() - s); }
lags.sort((x, y) => x - y); console.log('live lag p50', lags[150]!.toFixed(2), 'p99', lags[296]!.toFixed(2));
const t3 = performance.now(); for (let i = 0; i < 200; i += 1) await models.shipments.list(ACME, { filter: {}, limit: 50 }); console.log('list(50)', ((performance.now() - t3) / 200).toFixed(2), 'ms');
const t4 = performance.now(); for (let i = 0; i < 200; i += 1) await models.shipments.list(ACME, { filter: { status: ['in_transit', 'booked', 'pending'] }, limit: 50 }); console.log('list 3 statuses', ((performance.now() - t4) / 200).toFixed(2), 'ms');
const t5 = performance.now(); for (let i = 0; i < 1000; i += 1) await models.shipments.get(ACME, `shp_${token(i)}`); console.log('get', ((performance.now() - t5) / 1000).toFixed(3), 'ms');
const t6 = performance.now(); for (let i = 0; i < 200; i += 1) await models.shipments.possibleDuplicates(ACME, { id: 'x', house_bill: `HB-${i}`, container_numbers: [`NONE${i}`] }); console.log('duplicates', ((performance.now() - t6) / 200).toFixed(2), 'ms');
await world.close();
