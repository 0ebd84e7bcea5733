import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { parentPort } from 'node:worker_threads';

/** Asked of the worker: so many streams in all, or what came since the last report. */
export type StreamOrder =
  { readonly url: string; readonly keys: readonly string[]; readonly count: number } | { readonly report: true };

export interface StreamReport {
  /** When the streams that are looked at had a line, by the shipment's `external_id`, in epoch milliseconds. */
  readonly arrivals: ReadonlyMap<string, readonly number[]>;
  /** Read on all streams. */
  readonly bytes: number;
}

export const STREAMS_PER_KEY = 20;
/** One of so many is read line by line; the others are read away. */
const LOOKED_AT = 20;

const streams: IncomingMessage[] = [];
let arrivals = new Map<string, number[]>();
let bytes = 0;

async function open(url: string, key: string): Promise<IncomingMessage> {
  const outgoing = request(`${url}/v1/events/stream`, { headers: { authorization: `Bearer ${key}` }, agent: false });
  const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a stream was answered with ${response.statusCode}`);
  // The server ends first.
  response.on('error', () => undefined);
  return response.on('data', (chunk: Buffer) => (bytes += chunk.length));
}

function lookAt(stream: IncomingMessage): void {
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    const at = Date.now();
    for (const line of lines) {
      const id = /^data: .*?"external_id":"([^"]+)"/.exec(line)?.[1];
      if (id !== undefined) arrivals.set(id, [...(arrivals.get(id) ?? []), at]);
    }
  });
}

parentPort?.on('message', async (order: StreamOrder) => {
  if ('report' in order) {
    parentPort?.postMessage({ arrivals, bytes } satisfies StreamReport);
    [arrivals, bytes] = [new Map(), 0];
    return;
  }
  while (streams.length < order.count) {
    const stream = await open(order.url, order.keys[Math.floor(streams.length / STREAMS_PER_KEY)] ?? '');
    if (streams.length % LOOKED_AT === 0) lookAt(stream);
    streams.push(stream);
  }
  parentPort?.postMessage('opened');
});
