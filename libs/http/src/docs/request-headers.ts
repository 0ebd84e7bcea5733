import { OPERATIONS } from '../operations/operations.ts';
import type { Described, OperationObject } from './described.ts';

/** Headers of requests that many operations take, by name. */
const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description:
      'Names the request: sent again under it within 24 hours, it takes effect once and is answered the same.',
    schema: { type: 'string' as const, minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
    example: '8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11',
  },
  Prefer: {
    description: 'How a body is read (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits.',
    schema: { type: 'string' as const, enum: ['handling=strict', 'handling=lenient'] },
    example: 'handling=strict',
  },
  'Consistency-Token': {
    description:
      'The token of a write: nothing older is read; several, separated by commas, of writes that were under way side by side. The token of a write’s own answer is at least this one.',
    schema: { type: 'string' as const, minLength: 1 },
    example: 'Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE',
  },
  traceparent: {
    description: 'W3C trace context, kept with what the request writes; a trace is begun where there is none.',
    schema: { type: 'string' as const },
    example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  },
} as const;
type RequestHeader = keyof typeof REQUEST_HEADERS;

/** The headers as components, to which operations refer. */
export function headerParameters() {
  return Object.fromEntries(
    Object.entries(REQUEST_HEADERS).map(([name, header]) => [name, { name, in: 'header', required: false, ...header }]),
  );
}

/** Operations whose answer depends on the token of a request; of other reads it is not looked at. */
const READ_YOUR_WRITES: ReadonlySet<string> = new Set([
  'listShipments',
  'getShipment',
  'listShipmentHistory',
  'listEtaHistory',
  'explainShipment',
  'listMilestones',
  'getMilestone',
  'recordMilestones',
  'listExceptions',
  'listShipmentExceptions',
  'getException',
  'listEvents',
  'getEvent',
  'listDocuments',
  'getDocument',
  'downloadDocument',
  'deleteDocument',
]);
export const readsYourWrites = (id: string): boolean => READ_YOUR_WRITES.has(id);

/** Which of them an operation takes follows from what it is. */
export function takeHeaders({ id, method, path, operation, writes }: Described): void {
  const guarded = OPERATIONS[id] !== 'open';
  const taken: readonly (readonly [RequestHeader, boolean])[] = [
    ['Idempotency-Key', method === 'post'],
    ['Prefer', writes],
    ['Consistency-Token', readsYourWrites(id) || (writes && guarded)],
    ['traceparent', path.startsWith('/v1/')],
  ];
  const references = taken.flatMap(([name, takes]) => (takes ? [{ $ref: `#/components/parameters/${name}` }] : []));
  operation.parameters = [...(operation.parameters ?? []), ...references];
}

/** Every list in a query is one value, with commas between those of the list. */
export function separateLists({ parameters = [] }: OperationObject): void {
  for (const parameter of parameters) {
    if ('$ref' in parameter || parameter.in !== 'query') continue;
    if ((parameter.schema as { type?: string } | undefined)?.type === 'array')
      Object.assign(parameter, { style: 'form', explode: false });
  }
}
