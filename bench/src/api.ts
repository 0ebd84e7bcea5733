import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drive, type Figures, measureMaxLag, type LoadRequest, formatRow } from './load.ts';
import { residentMiB } from './machine.ts';
import { runCli, startBaseline, startStandalone, type Server } from './server.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const PORTS = ['CNSHA', 'NLRTM', 'DEHAM', 'USLAX', 'SGSIN', 'BRSSZ'];

const OWNERS = ['MSKU', 'CMAU', 'HLXU', 'TGHU', 'OOLU', 'SUDU'];

/**
 * Returns a distinct container number for each of six million `n`. ISO 6346: the check digit of four letters and six
 * digits.
 */
export function container(n: number): string {
  const text = `${OWNERS[Math.floor(n / 1_000_000) % OWNERS.length]}${String(n % 1_000_000).padStart(6, '0')}`;
  const valueOf = (letter: string) => {
    const place = letter.charCodeAt(0) - 'A'.charCodeAt(0);
    // Multiples of 11 are omitted.
    return 10 + place + Math.floor((place + 9) / 10);
  };
  const values = [...text].map((each) => (/\d/.test(each) ? Number(each) : valueOf(each)));
  return `${text}${(values.reduce((sum, value, at) => sum + value * 2 ** at, 0) % 11) % 10}`;
}

let serial = 0;
const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/**
 * Returns a shipment as a transport management system sends it: about 600 bytes, all values distinct except these
 * fields.
 */
export function shipment(fields: object = {}): LoadRequest {
  serial += 1;
  const body = {
    external_id: `PO-${serial}`,
    mode: 'ocean',
    house_bill: `HBL${serial}`,
    container_numbers: [container(serial)],
    carrier_scac: 'MAEU',
    origin_port: PORTS[serial % 6],
    destination_port: PORTS[(serial + 1) % 6],
    // In the future, so that the shipment is neither overdue nor silent.
    etd: daysFromNow(3),
    eta: daysFromNow(40),
    shipper: { name: 'Acme Components Ltd', external_id: 'ACME' },
    consignee: { name: 'Widget Trading B.V.', external_id: `W-${serial % 500}` },
    references: [{ type: 'purchase_order', value: `45000${serial}` }],
    metadata: { desk: 'rotterdam' },
    ...fields,
  };
  return { method: 'POST', path: '/v1/shipments', body: JSON.stringify(body) };
}

export async function listIds(server: Server, key: string, pages: number): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pages; page += 1) {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(`${server.url}/v1/shipments?limit=200${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const body = (await response.json()) as { data: { id: string }[]; next_cursor: string | null };
    found.push(...body.data.map((one) => one.id));
    cursor = body.next_cursor;
    if (cursor === null) break;
  }
  return found;
}

/** Measures commands, queries, catch-up and start, beside a bare route with the same validation in the same run. */
export async function benchApi(seconds: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const load = { connections: 64, seconds };
  try {
    const baseline = await startBaseline();
    await drive(baseline, { ...load, seconds: 3 }, shipment);
    const bare = await drive(baseline, { ...load, seconds: Math.min(seconds, 20) }, shipment);
    await baseline.stop();
    print(formatRow('bare Nest+Fastify route', bare));

    let server = await startStandalone(dataDir);
    const before = serial;
    print(
      `start, empty data folder             ${server.startMs.toFixed(0)} ms, ${residentMiB(server.pid).toFixed(0)} MiB`,
    );
    const key = await runCli(
      dataDir,
      'keys',
      'create',
      '--name',
      'bench',
      '--environment',
      'live',
      '--role',
      'operator',
    );
    await drive(server, { ...load, seconds: 3, key }, shipment);

    const posting = drive(server, { ...load, key }, shipment);
    const lag = await measureMaxLag([server], posting);
    print(formatRow(`POST shipment, ${seconds} s`, await posting, bare));
    print(
      `  maximum read-model lag              ${lag.toFixed(3)} s, ${residentMiB(server.pid).toFixed(0)} MiB in memory`,
    );

    const known = await listIds(server, key, 25);
    let turn = 0;
    const codes = ['gated_in', 'loaded_on_vessel', 'vessel_departed', 'vessel_arrived', 'discharged'];
    const milestone = (): LoadRequest => {
      turn += 1;
      const body = {
        code: codes[Math.floor(turn / known.length) % codes.length],
        occurred_at: new Date(Date.UTC(2026, 8, 1) + turn * 1_000).toISOString(),
        location: PORTS[turn % 6],
      };
      return {
        method: 'POST',
        path: `/v1/shipments/${known[turn % known.length]}/milestones`,
        body: JSON.stringify(body),
      };
    };
    const recording = drive(server, { ...load, key }, milestone);
    const milestoneLag = await measureMaxLag([server], recording);
    print(formatRow(`POST milestone, ${seconds} s`, await recording, bare));
    print(`  maximum read-model lag              ${milestoneLag.toFixed(3)} s`);

    const read = { ...load, seconds: Math.min(seconds, 10), key };
    const get = (path: () => string): Promise<Figures> => drive(server, read, () => ({ method: 'GET', path: path() }));
    print(formatRow('GET shipment by id', await get(() => `/v1/shipments/${known[(turn += 1) % known.length]}`), bare));
    print(formatRow('GET list, 50 a page', await get(() => '/v1/shipments'), bare));
    print(formatRow('GET list by status, 50 a page', await get(() => '/v1/shipments?status=in_transit'), bare));
    print(
      formatRow(
        'GET list by external_id',
        await get(() => `/v1/shipments?external_id=PO-${(turn += 1) % 5_000}`),
        bare,
      ),
    );

    const missing = 100_000 - (serial - before);
    if (missing > 0) await drive(server, { ...load, key, amount: missing }, shipment);
    await measureCatchUp(server, dataDir);
    await server.stop();

    server = await startStandalone(dataDir);
    print(
      `start, ${serial - before} shipments        ${server.startMs.toFixed(0)} ms, ${residentMiB(server.pid).toFixed(0)} MiB`,
    );
    await server.stop('SIGKILL');
    server = await startStandalone(dataDir);
    print(
      `start after kill -9                  ${server.startMs.toFixed(0)} ms, ${residentMiB(server.pid).toFixed(0)} MiB`,
    );
    await server.stop();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A rebuild reads every event of the store from the start, so its rate is the catch-up rate. */
async function measureCatchUp(server: Server, dataDir: string): Promise<void> {
  const projected = async () => {
    const text = await (await fetch(`${server.managementUrl}/metrics`)).text();
    return [...text.matchAll(/^read_model_events_projected_total\{[^}]*read_model="shipments"[^}]*\} (\S+)$/gm)].reduce(
      (sum, match) => sum + Number(match[1]),
      0,
    );
  };
  const events = await projected();
  const before = performance.now();
  await runCli(dataDir, 'read-models', 'rebuild', 'shipments');
  const seconds = (performance.now() - before) / 1000;
  const count = (await projected()) - events;
  print(
    `catch-up, read model "shipments"     ${(count / seconds).toFixed(0)} events/s (${count} events in ${seconds.toFixed(1)} s)`,
  );
}
