import { type CheckRulesCommand, createShipmentIdFromToken } from '@tracking/shipments-domain';
import { type LogLine, RecordedMetrics, createRecordingLogger } from '@tracking/testing';
import { InProcessLeases } from '@tracking/embedded';
import {
  type DueShipment,
  DueShipmentChecker,
  type RuleClockDependencies,
  type DueShipmentSource,
} from '../src/clock/rule-clock.ts';
import type { ShipmentsService } from '../src/shipments.ts';
import { SAMPLE_SCOPE } from './builders.ts';

type Answer = Awaited<ReturnType<ShipmentsService['checkRules']>>;

export const SAMPLE_DAY_START_MS = Date.parse('2026-03-02T00:00:00.000Z');
/** Returns the id of the n-th shipment. The ids sort in the order of `n`. */
export function createNthShipmentId(n: number): string {
  const digits = String(n).padStart(8, '0');
  return createShipmentIdFromToken(
    `${'a'.repeat(17)}${digits.replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}a`,
  );
}

/** A rule clock for tests. The test controls its work list and time. */
export class RuleClockTestHarness {
  /** Time of the clock, in seconds after midnight. */
  now = 0;
  /** Monotonic milliseconds, which do not depend on the clock's time. */
  elapsed = 0;
  /** Simulated duration of a check, which the test sets, in milliseconds. */
  takes = 0;
  isHeld = true;
  /** True if the work list still shows checked shipments. */
  isBehind = false;
  /** Maximum number of concurrent checks so far. */
  most = 0;
  /** Number of reads of the work list, and number of rows returned. */
  readonly looks: number[] = [];
  readonly commands: CheckRulesCommand[] = [];
  readonly rests: number[] = [];
  readonly lines: LogLine[] = [];
  readonly metrics = new RecordedMetrics();
  readonly clock: DueShipmentChecker;
  private readonly rows = new Map<string, DueShipment>();
  private underWay = 0;

  /** @param otherwise error to throw for a command instead of executing it */
  constructor(
    private readonly otherwise: (command: CheckRulesCommand) => Error | undefined = () => undefined,
    parts: Partial<RuleClockDependencies> = {},
  ) {
    const workList: DueShipmentSource = {
      listDueShipments: (until, limit, after) => this.listDueShipments(until, limit, after),
    };
    this.clock = new DueShipmentChecker({
      shipments: { checkRules: (command) => this.answerCheckRulesCommandForTest(command as CheckRulesCommand) },
      workList,
      leases: new InProcessLeases(1),
      clock: () => new Date(SAMPLE_DAY_START_MS + this.now * 1_000),
      logger: createRecordingLogger(this.lines),
      metrics: this.metrics,
      elapsed: () => this.elapsed,
      rest: async (ms) => void this.rests.push(ms),
      ...parts,
    });
  }

  /**
   * Makes the n-th shipment due at the given time.
   * @param second seconds after midnight
   */
  setDueTimeOfShipment(n: number, second: number): void {
    const id = createNthShipmentId(n);
    this.rows.set(id, { id, ...SAMPLE_SCOPE, due_at: new Date(SAMPLE_DAY_START_MS + second * 1_000).toISOString() });
  }

  checkDueShipmentsOnce(ending = new AbortController().signal): Promise<void> {
    return this.clock.checkDueShipments(ending, { isLeaseHeld: () => this.isHeld });
  }

  /** Returns the checked shipments in the order in which their checks began, and clears the list. */
  takeCheckedShipmentIds(): readonly string[] {
    return this.commands.splice(0).map(({ shipment_id }) => shipment_id);
  }

  private async listDueShipments(until: string, limit: number, after?: DueShipment): Promise<readonly DueShipment[]> {
    const key = ({ due_at, id }: DueShipment) => `${due_at} ${id}`;
    const found = [...this.rows.values()]
      .filter((row) => row.due_at <= until && (after === undefined || key(row) > key(after)))
      .sort((one, other) => (key(one) < key(other) ? -1 : 1))
      .slice(0, limit);
    this.looks.push(found.length);
    return found;
  }

  private async answerCheckRulesCommandForTest(command: CheckRulesCommand): Promise<Answer> {
    this.commands.push(command);
    this.underWay += 1;
    this.most = Math.max(this.most, this.underWay);
    await new Promise(setImmediate);
    this.underWay -= 1;
    if (this.underWay === 0) this.elapsed += this.takes;
    const error = this.otherwise(command);
    if (error !== undefined) throw error;
    const { shipment_id } = command;
    if (!this.isBehind) this.rows.delete(shipment_id);
    return {
      answer: { outcome: 'checked', shipment_id, version: 2, next_check_at: null },
      position: '1',
    };
  }
}
