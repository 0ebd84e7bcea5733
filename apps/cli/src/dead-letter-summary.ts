import { filtersOf, whereOf } from './delivery-list.ts';
import type { Invocation } from './invocation.ts';
import { noneIn } from './output.ts';
import type { Column, Printer } from './output.ts';

interface Count {
  readonly count: number;
  readonly is_exact: boolean;
}
export interface Summary extends Count {
  readonly by_reason: readonly (Count & { readonly reason: string })[];
  readonly by_endpoint: readonly (Count & {
    readonly endpoint_id: string;
    readonly url: string | null;
    readonly status: string;
    readonly workspace: string;
    readonly environment: string;
  })[];
  readonly by_event_type: readonly (Count & { readonly event_type: string })[];
  /** Names of those looked at. */
  readonly workspaces: readonly string[];
}

const COUNT: Column<Count> = ['COUNT', counted];
const REASONS: readonly Column<Summary['by_reason'][number]>[] = [['REASON', ({ reason }) => reason], COUNT];
const TYPES: readonly Column<Summary['by_event_type'][number]>[] = [['EVENT', ({ event_type }) => event_type], COUNT];
const ENDPOINTS: readonly Column<Summary['by_endpoint'][number]>[] = [
  ['ENDPOINT', ({ endpoint_id }) => endpoint_id],
  ['WORKSPACE', ({ workspace }) => workspace],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['STATUS', ({ status }) => status],
  ['URL', ({ url }) => url],
  COUNT,
];

/** What the command's filters ask for, counted. */
export function summaryOf(invocation: Invocation): Promise<Summary> {
  const params = { ...whereOf(invocation), ...filtersOf(invocation) };
  return invocation.client.get<Summary>('/dead_letters/summary', params);
}

export function printSummary(print: Printer, summary: Summary): void {
  const { by_reason, by_endpoint, by_event_type, workspaces } = summary;
  if (counted(summary) === NONE) return print.hint(noneIn(workspaces));
  print.hint(`${counted(summary)} dead letters`);
  print.list(by_reason, REASONS);
  print.hint('');
  print.list(by_endpoint, ENDPOINTS);
  print.hint('');
  print.list(by_event_type, TYPES);
}

/** What `counted` says where there are none for certain. */
export const NONE = '0';

/** With a plus where there are more. */
export function counted({ count, is_exact }: Count): string {
  return `${count}${is_exact ? '' : '+'}`;
}
