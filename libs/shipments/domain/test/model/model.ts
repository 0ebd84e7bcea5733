import type { ShipmentFields, Timestamp } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { timesAfter } from './estimates.ts';
import { type Memory, nothingSaid } from './memory.ts';
import { type Expected, correct, expectedOf, record, takeName } from './milestones.ts';
import { cancellations, rankOf, shipmentStatus } from './status.ts';

/** The naive model: it keeps all that was said, and works everything out anew after each command. */
export class Model {
  readonly memory: Memory = nothingSaid();

  /** "Omitted fields keep their value, `null` clears, arrays replace." */
  upsert(fields: Partial<ShipmentFields>): void {
    const { memory } = this;
    memory.now += 1;
    memory.fields = { ...memory.fields, ...fields };
    // "`etd`, `eta` and `legs` in an upsert count as a change only when they differ from what the last upsert sent."
    for (const field of ['etd', 'eta', 'legs'] as const) {
      const value = fields[field];
      if (value === undefined) continue;
      const differs = JSON.stringify(value) !== JSON.stringify(memory.sent[field]);
      if (differs) Object.assign(memory, { [field]: { value, said: memory.now } });
      memory.sent = { ...memory.sent, [field]: value };
    }
    this.settle(false);
  }

  post(input: MilestoneInput, at: Timestamp, take: (expected: Expected) => string): void {
    const { memory } = this;
    const expected = expectedOf(input, memory);
    const id = take(expected);
    if (expected.outcome === 'refused') return;
    memory.now += 1;
    if (expected.outcome === 'recorded') record(input, id, at, memory);
    else if (expected.outcome === 'corrected') correct(input, id, memory);
    else takeName(input, id, memory);
    this.settle(false);
  }

  /** Answers why it is refused: "possible before `delivered` (else 409 `already_delivered`)". */
  cancel(): string | undefined {
    const { memory } = this;
    const { status } = shipmentStatus(memory);
    if (status !== 'cancelled' && rankOf(status) >= rankOf('delivered')) return 'already_delivered';
    memory.now += 1;
    memory.cancelled ??= memory.now;
    this.settle(false);
    return undefined;
  }

  /** "While a milestone cancels it, `reopen` answers 409 `cancelled_by_milestone`." */
  reopen(): string | undefined {
    const { memory } = this;
    if (cancellations(memory).length > 0) return 'cancelled_by_milestone';
    memory.now += 1;
    memory.cancelled = null;
    this.settle(false);
    return undefined;
  }

  private settle(patched: boolean): void {
    this.memory.answered = timesAfter(this.memory, patched);
  }
}
