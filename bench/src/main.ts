import { loadavg } from 'node:os';
import { benchAdapters } from './adapters.ts';
import { benchApi } from './api.ts';
import { benchBroker } from './broker.ts';
import { benchCapacity } from './capacity.ts';
import { benchDerive } from './derive.ts';
import { benchDistributed, benchReplicas } from './distributed.ts';
import { benchDocuments } from './documents.ts';
import { benchCompression, benchEdge, benchIdempotency, benchVersions } from './edge.ts';
import { EXCEPTION_PARTS, benchExceptions } from './exceptions.ts';
import { benchListEngines, benchLists } from './lists.ts';
import { benchListsAtOnce } from './lists-at-once.ts';
import { machine } from './machine.ts';
import { benchPartitions } from './partitions.ts';
import { benchSharing } from './sharing.ts';
import { benchSignIn } from './sign-in.ts';
import { benchStreams } from './streams.ts';
import { WEB_PARTS, benchWeb } from './web.ts';
import { WEBHOOK_PARTS, benchWebhooks } from './webhooks.ts';

interface Suite {
  /** Parts that can run alone. */
  readonly parts: readonly string[];
  run(seconds: number | undefined, part: string | undefined): Promise<void>;
}
const API_PARTS: Readonly<Record<string, (seconds: number) => Promise<void>>> = {
  sharing: benchSharing,
  idempotency: benchIdempotency,
  'edge-costs': benchEdge,
  'sign-in': benchSignIn,
  compression: benchCompression,
  versions: benchVersions,
};
const DISTRIBUTED_PARTS: Readonly<Record<string, (seconds: number) => Promise<void>>> = {
  capacity: benchCapacity,
  replicas: benchReplicas,
  partitions: benchPartitions,
};
const suites: Readonly<Record<string, Suite>> = {
  api: {
    parts: Object.keys(API_PARTS),
    run: (seconds, part) => (API_PARTS[part ?? ''] ?? benchApi)(seconds ?? (part === undefined ? 60 : 20)),
  },
  adapters: { parts: [], run: (seconds = 5) => benchAdapters(seconds) },
  broker: { parts: [], run: (seconds = 5) => benchBroker(seconds) },
  derive: { parts: [], run: () => benchDerive() },
  distributed: {
    parts: Object.keys(DISTRIBUTED_PARTS),
    run: (seconds, part) =>
      (DISTRIBUTED_PARTS[part ?? ''] ?? benchDistributed)(seconds ?? (part === 'capacity' ? 10 : 20)),
  },
  /** The number is the size of a file in MiB. */
  documents: { parts: [], run: (mib = 100) => benchDocuments(mib) },
  /** The number is that of waiting shipments. */
  exceptions: { parts: EXCEPTION_PARTS, run: (shipments = 1_000_000, part) => benchExceptions(shipments, part) },
  /** The number is that of shipments. */
  lists: {
    parts: ['engines', 'at-once'],
    run: (shipments, part) => {
      // The number is that of seconds.
      if (part === 'at-once') return benchListsAtOnce(shipments ?? 10);
      return part === undefined ? benchLists(shipments ?? 1_000_000) : benchListEngines(shipments ?? 20_000);
    },
  },
  streams: { parts: [], run: (seconds = 20) => benchStreams(seconds) },
  /** The number is that of shipments, or of seconds for `tab`. */
  web: { parts: WEB_PARTS, run: benchWeb },
  webhooks: { parts: WEBHOOK_PARTS, run: benchWebhooks },
};

const [name = 'api', ...rest] = process.argv.slice(2);
const seconds = /^\d+$/.test(rest.at(-1) ?? '') ? Number(rest.pop()) : undefined;
const [part, ...surplus] = rest;
const suite = suites[name];
if (!suite || surplus.length > 0 || (part !== undefined && !suite.parts.includes(part))) {
  const usages = Object.entries(suites).map(
    ([each, { parts }]) => `${each} ${parts.length > 0 ? `[${parts.join('|')}] ` : ''}`,
  );
  process.stderr.write(`usage: npm run bench -- ${usages.map((usage) => `${usage}[seconds]`).join(' | ')}\n`);
  process.exit(2);
}
process.stdout.write(`${machine()}, load ${loadavg()[0]?.toFixed(1)}\n`);
await suite.run(seconds, part);
