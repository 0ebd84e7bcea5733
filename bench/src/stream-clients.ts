import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { parentPort } from 'node:worker_threads';

/** An order to the worker: the total number of streams to open, or a report of the data since the last report. */
export type StreamOrder =
  { readonly url: string; readonly keys: readonly string[]; readonly count: number } | { readonly report: true };

export interface StreamReport {
  /** Times at which the observed streams received a line, by the shipment's `external_id`, in epoch milliseconds. */
  readonly arrivals: ReadonlyMap<string, readonly number[]>;
  /** Bytes read on all streams. */
  readonly bytes: number;
}

export const STREAMS_PER_KEY = 20;
/** One of this many streams is read line by line; the data of the others is discarded. */
const OBSERVED_INTERVAL = 20;

const streams: IncomingMessage[] = [];
let arrivals = new Map<string, number[]>();
let bytes = 0;

async function open(url: string, key: string): Promise<IncomingMessage> {
  const outgoing = request(`${url}/v1/events/stream`, { headers: { authorization: `Bearer ${key}` }, agent: false });
  const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a stream was answered with status ${response.statusCode}`);
  // The server closes the connection first.
  response.on('error', () => undefined);
  return response.on('data', (chunk: Buffer) => (bytes += chunk.length));
}

function observe(stream: IncomingMessage): void {
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
    if (streams.length % OBSERVED_INTERVAL === 0) observe(stream);
    streams.push(stream);
  }
  parentPort?.postMessage('opened');
});
