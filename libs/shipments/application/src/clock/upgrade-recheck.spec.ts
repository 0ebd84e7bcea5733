import { Unavailable } from '@tracking/ports';
import { UpgradeRecheck } from './rechecks.ts';

/** Three workspaces, and the stored rules version of their last re-checks. */
class Stage {
  rules: string | undefined;
  shown = '5';
  requested: string[] = [];
  isAway = false;
  elapsed = 0;
  upgradeMs = 0;

  recheck(rules = 'new'): UpgradeRecheck {
    return new UpgradeRecheck({
      rules,
      rechecks: {
        requestRecheck: async (id) => {
          if (this.isAway && id === 'wsp_2') throw new Unavailable('document store', 'away');
          this.requested.push(id);
        },
        readCheckedRules: async () => this.rules,
        storeCheckedRules: async (to) => void (this.rules = to),
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
    const stage = new Stage();
    stage.rules = before;
    const recheck = stage.recheck();
    await recheck.requestRechecksIfUpgraded(never);
    await recheck.requestRechecksIfUpgraded(never);
    await stage.recheck().requestRechecksIfUpgraded(never);
    expect([stage.requested, stage.rules]).toEqual([ALL, 'new']);
    await stage.recheck('newer').requestRechecksIfUpgraded(never);
    expect(stage.requested).toEqual([...ALL, ...ALL]);
  });

  it('waits until the read model contains all earlier events', async () => {
    const stage = new Stage();
    stage.shown = '4';
    const recheck = stage.recheck();
    await recheck.requestRechecksIfUpgraded(never);
    expect([stage.requested, stage.rules]).toEqual([[], undefined]);
    stage.shown = '5';
    await recheck.requestRechecksIfUpgraded(never);
    expect([stage.requested, stage.rules]).toEqual([ALL, 'new']);
  });

  it('waits until no replica runs the previous release', async () => {
    const stage = new Stage();
    stage.upgradeMs = 1_000;
    const recheck = stage.recheck();
    for (const elapsed of [5_000, 5_999]) {
      stage.elapsed = elapsed;
      await recheck.requestRechecksIfUpgraded(never);
      expect([stage.requested, stage.rules]).toEqual([[], undefined]);
    }
    stage.elapsed = 6_000;
    await recheck.requestRechecksIfUpgraded(never);
    expect([stage.requested, stage.rules]).toEqual([ALL, 'new']);
  });

  it('is repeated completely after an interruption', async () => {
    const stage = new Stage();
    stage.isAway = true;
    const recheck = stage.recheck();
    await expect(recheck.requestRechecksIfUpgraded(never)).rejects.toThrow(Unavailable);
    expect(stage.rules).toBeUndefined();
    stage.isAway = false;
    await recheck.requestRechecksIfUpgraded(AbortSignal.abort());
    expect(stage.rules).toBeUndefined();
    stage.requested = [];
    await recheck.requestRechecksIfUpgraded(never);
    expect([stage.requested, stage.rules]).toEqual([ALL, 'new']);
  });
});
