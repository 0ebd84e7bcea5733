import type { JsonValue, Timestamp } from '@tracking/contracts';
import type { Command } from 'commander';
import { addWhere, filtersOf, printDeliveries, whereOf } from './delivery-list.ts';
import type { DeliverySummary } from './delivery-list.ts';
import { addDeliveryFilters, addLimit, addStatus } from './filters.ts';
import type { Invocation, Runner } from './invocation.ts';
import type { Column } from './output.ts';

/** Characters of an answer's body that a line has room for; `--json` has all of it. */
const SHOWN_BODY = 200;

interface Attempt {
  readonly number: number;
  readonly at: Timestamp;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly response: { readonly body: string } | null;
  readonly manual: boolean;
}
export interface DeliveryDetail extends DeliverySummary {
  readonly payload: JsonValue;
  readonly attempts: readonly Attempt[];
}

const FIELD_COLUMNS: readonly Column<readonly [string, string | number | boolean | null]>[] = [
  ['FIELD', ([name]) => name],
  ['VALUE', ([, value]) => value],
];
const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  ['ATTEMPT', ({ number }) => number],
  ['AT', ({ at }) => at],
  ['MS', ({ duration_ms }) => duration_ms],
  ['STATUS', ({ status_code }) => status_code],
  ['BY HAND', ({ manual }) => (manual ? 'yes' : 'no')],
  ['ERROR', ({ error }) => error && error.message],
  ['ANSWER', ({ response }) => response && response.body.slice(0, SHOWN_BODY)],
];

export function addDeliveryCommands(deliveries: Command, run: Runner): void {
  addLimit(addStatus(addDeliveryFilters(addWhere(deliveries.command('list')))), 'the newest first')
    .description('list deliveries to webhook endpoints, the newest first')
    .option('--event <id>', 'only those of this event, evt_…')
    .action(run((invocation) => printDeliveries(invocation, { ...whereOf(invocation), ...filtersOf(invocation) })));
  addWhere(deliveries.command('show'))
    .argument('<id>', 'id of the delivery, dlv_…')
    .description('show a delivery with its payload and every attempt')
    .action(run(async (invocation) => printDelivery(invocation, await deliveryOf(invocation))));
  addWhere(deliveries.command('retry'))
    .argument('<id>', 'id of the delivery, dlv_…')
    .description('have a delivery attempted once, beside its schedule')
    .action(
      run(async (invocation) => {
        const { client, print, operand } = invocation;
        const path = `/deliveries/${encodeURIComponent(operand)}/retry`;
        const delivery = await client.post<DeliverySummary>(path, whereOf(invocation));
        print.one(delivery, ({ id }) => `${id} is attempted: see deliveries show`);
      }),
    );
}

/** The delivery that the command names. */
export async function deliveryOf(invocation: Invocation): Promise<DeliveryDetail> {
  const { client, operand } = invocation;
  return client.get(`/deliveries/${encodeURIComponent(operand)}`, whereOf(invocation));
}

export function printDelivery({ print, options }: Invocation, delivery: DeliveryDetail): void {
  if (options['json'] === true) {
    print.one(delivery, () => '');
    return;
  }
  const { attempts, payload, last_error, ...fields } = delivery;
  print.list(
    [
      ...Object.entries(fields),
      ['last_error', last_error && `${last_error.code}: ${last_error.message}`],
      ['payload', JSON.stringify(payload)],
    ],
    FIELD_COLUMNS,
  );
  print.one('', (blank) => blank);
  print.list(attempts, ATTEMPT_COLUMNS);
}
