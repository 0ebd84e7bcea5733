import type { RuleSettings, Severity, Timestamp } from '@tracking/contracts';
import { DEFAULT_RULE_SETTINGS } from '@tracking/contracts';
import { type Condition, type World, holdsAt, keyOf, ms, severityAt } from './condition.ts';
import { conditionsOf } from './conditions.ts';
import { Model } from './model.ts';
import { shipmentStatus } from './status.ts';

/** A slip that a person resolved may grow by less than so many hours. */
const GROWS_BY = 24;

/** What is recorded of a shipment over time: what was said of it, and what persons did about its exceptions. */
export class Clerk {
  readonly model = new Model();
  settings: RuleSettings = DEFAULT_RULE_SETTINGS;
  private created = 0;
  private heard: number | null = null;
  private wasCancelled = false;
  /** Open ones that a person opened; what they opened while it was cancelled stays. */
  private readonly byHand = new Map<string, Severity>();
  /** What a person resolved while it was so, as it was then: "stays resolved until its condition has ended once". */
  private readonly putAway = new Map<string, Pick<Condition, 'slip' | 'about'> | null>();

  get world(): World {
    return { memory: this.model.memory, settings: this.settings, created: this.created, heard: this.heard };
  }

  /**
   * Takes a command to the model.
   * @param at its time
   * @param moment that, or the latest that is known, if that is later
   */
  record<T>(at: Timestamp, moment: Timestamp, act: () => T): T {
    const now = ms(at);
    if (this.model.memory.now === 0) this.created = now;
    const before = this.told();
    const result = act();
    // "Neither a milestone of any classifier nor a changed ETA": what is retracted was heard of when it came.
    if (this.model.memory.now > 1 && this.told() !== before) this.heard = Math.max(now, this.heard ?? now);
    this.settle(ms(moment));
    return result;
  }

  private told(): string {
    const { milestones, answered } = this.model.memory;
    const revisions = milestones.map(({ id, revision, retracted }) => `${id} ${revision - Number(retracted)}`);
    return JSON.stringify([answered.eta, revisions]);
  }

  openByHand(key: string, severity: Severity, at: Timestamp): void {
    if (!this.openAt(ms(at)).has(key)) this.byHand.set(key, severity);
  }

  resolve(key: string, at: Timestamp): void {
    // Of what a person opened nothing was measured.
    const isMeasured = !this.byHand.delete(key);
    const condition = this.holding(ms(at)).find((each) => keyOf(each) === key);
    if (condition !== undefined) this.putAway.set(key, isMeasured ? condition : null);
  }

  /** By the settings and the clock alone. */
  settle(now: number): void {
    const isCancelled = shipmentStatus(this.model.memory).status === 'cancelled';
    if (isCancelled && !this.wasCancelled) this.byHand.clear();
    this.wasCancelled = isCancelled;
    // "A container taken off the shipment … its exceptions resolve."
    const { container_numbers } = this.model.memory.fields;
    for (const key of this.byHand.keys()) {
      const container = key.split(' ')[1] ?? 'null';
      if (container !== 'null' && !container_numbers.includes(container)) this.byHand.delete(key);
    }
    const holding = this.holding(now);
    for (const [key, measured] of this.putAway) {
      const condition = holding.find((each) => keyOf(each) === key);
      const hasGrown = measured !== null && condition !== undefined && isAnother(condition, measured);
      // Only what becomes of movements is asked of a cancelled shipment: all else rests.
      const rests = isCancelled && !key.startsWith('movement_after_cancel');
      if ((condition === undefined && !rests) || hasGrown) this.putAway.delete(key);
    }
  }

  /** `type container` of all that are open, with their severity. */
  openAt(now: number): ReadonlyMap<string, Severity> {
    const byRule = this.holding(now)
      .filter((condition) => !this.putAway.has(keyOf(condition)))
      .map((condition) => [keyOf(condition), severityAt(condition, now)] as const);
    // What a person opened is theirs, whatever a rule says of it.
    return new Map([...new Map([...byRule, ...this.byHand])].toSorted());
  }

  /** What a person resolved, and is so still. */
  putAwayAt(now: number): readonly string[] {
    const keys = this.holding(now).map(keyOf);
    return keys.filter((key) => this.putAway.has(key) && !this.byHand.has(key)).sort();
  }

  /** What will open if nothing but time happens. */
  expectedAfter(now: number): readonly Condition[] {
    return this.conditions().filter(
      (condition) =>
        !holdsAt(condition, now) && !this.putAway.has(keyOf(condition)) && !this.byHand.has(keyOf(condition)),
    );
  }

  conditions(): readonly Condition[] {
    return conditionsOf(this.world);
  }

  private holding(now: number): readonly Condition[] {
    return this.conditions().filter((condition) => holdsAt(condition, now));
  }
}

/** "eta_slip: or grown by 24 h"; another document than those that a person did without. */
function isAnother({ slip, about }: Condition, measured: Pick<Condition, 'slip' | 'about'>): boolean {
  const hasGrown = measured.slip !== null && (slip ?? 0) >= measured.slip + GROWS_BY;
  return hasGrown || about.some((one) => !measured.about.includes(one));
}
