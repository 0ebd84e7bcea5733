import { UnavailableError } from '@tracking/ports';
import { UpgradeRecheckRequester } from './rechecks.ts';

/** Three workspaces, and the stored rules version of their last re-checks. */
class Harness {
  rules: string | undefined;
  shown = '5';
  requested: string[] = [];
  isAway = false;
  elapsed = 0;
  upgradeMs = 0;

  recheck(rules = 'new'): UpgradeRecheckRequester {
    return new UpgradeRecheckRequester({
      rules,
      rechecks: {
        requestRecheck: async (id) => {
          if (this.isAway && id === 'wsp_2') throw new UnavailableError('document store', 'away');
          this.requested.push(id);
        },
        readRecheckedRulesVersion: async () => this.rules,
        storeRecheckedRulesVersion: async (to) => void (this.rules = to),
      },
      workspaces: { findNextWorkspace: async (after = '') => ['wsp_1', 'wsp_2', 'wsp_3'].find((id) => id > after) },
      eventStore: { head: async () => '5' },
      readModelsReached: async (position) => this.shown >= position,
      elapsed: () => this.elapsed,
      upgradeMs: this.upgradeMs,
    });
  }
}

const ALL = ['wsp_1', 'wsp_2', 'wsp_3'];
const never = new AbortController().signal;

describe('the re-check after an upgrade', () => {
  it.each([undefined, 'old'])('is requested once for all workspaces if the last rules were %s', async (before) => {
    const harness = new Harness();
    harness.rules = before;
    const recheck = harness.recheck();
    await recheck.requestRechecksIfUpgraded(never);
    await recheck.requestRechecksIfUpgraded(never);
    await harness.recheck().requestRechecksIfUpgraded(never);
    expect([harness.requested, harness.rules]).toEqual([ALL, 'new']);
    await harness.recheck('newer').requestRechecksIfUpgraded(never);
    expect(harness.requested).toEqual([...ALL, ...ALL]);
  });

  it('waits until the read model contains all earlier events', async () => {
    const harness = new Harness();
    harness.shown = '4';
    const recheck = harness.recheck();
    await recheck.requestRechecksIfUpgraded(never);
    expect([harness.requested, harness.rules]).toEqual([[], undefined]);
    harness.shown = '5';
    await recheck.requestRechecksIfUpgraded(never);
    expect([harness.requested, harness.rules]).toEqual([ALL, 'new']);
  });

  it('waits until no replica runs the previous release', async () => {
    const harness = new Harness();
    harness.upgradeMs = 1_000;
    const recheck = harness.recheck();
    for (const elapsed of [5_000, 5_999]) {
      harness.elapsed = elapsed;
      await recheck.requestRechecksIfUpgraded(never);
      expect([harness.requested, harness.rules]).toEqual([[], undefined]);
    }
    harness.elapsed = 6_000;
    await recheck.requestRechecksIfUpgraded(never);
    expect([harness.requested, harness.rules]).toEqual([ALL, 'new']);
  });

  it('is repeated completely after an interruption', async () => {
    const harness = new Harness();
    harness.isAway = true;
    const recheck = harness.recheck();
    await expect(recheck.requestRechecksIfUpgraded(never)).rejects.toThrow(UnavailableError);
    expect(harness.rules).toBeUndefined();
    harness.isAway = false;
    await recheck.requestRechecksIfUpgraded(AbortSignal.abort());
    expect(harness.rules).toBeUndefined();
    harness.requested = [];
    await recheck.requestRechecksIfUpgraded(never);
    expect([harness.requested, harness.rules]).toEqual([ALL, 'new']);
  });
});
