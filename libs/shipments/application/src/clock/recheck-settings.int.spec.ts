import { DEFAULT_RULE_SETTINGS, type RuleSettings } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import { toShipmentStreamName } from '@tracking/shipments-domain';
import { noMetrics, silentLogger } from '@tracking/testing';
import { createUpsertCommand, EMPTY_PLACE_LOOKUP, SAMPLE_SCOPE } from '../../test/builders.ts';
import { TestEngine } from '../../test/engine.ts';
import { RecheckTestHarness } from '../../test/recheck-test-harness.ts';
import { createCachedRuleSettingsReader } from '../decide-batch.ts';
import { EventSourcedShipmentService } from '../shipments.ts';

const HOUR_MS = 3_600_000;
const ETD = '2026-03-02T00:00:00.000Z';

describe('a re-check over the embedded engine', () => {
  let engine: TestEngine;
  beforeEach(async () => {
    engine = await TestEngine.openTestEngine();
  });
  afterEach(() => engine.closeTestEngine());

  it('uses the changed settings, even if they cannot be read again', async () => {
    let version = 1;
    let readsUntilFailure = Infinity;
    const settings = createCachedRuleSettingsReader({
      async getCachedSettings(): Promise<RuleSettings & { readonly version: number }> {
        readsUntilFailure -= 1;
        if (readsUntilFailure < 0) throw new UnavailableError('document store', 'away');
        const { exceptions, ...others } = DEFAULT_RULE_SETTINGS;
        const departure_overdue = { ...exceptions.departure_overdue, after_hours: version === 1 ? 12 : 1 };
        return { ...others, exceptions: { ...exceptions, departure_overdue }, version };
      },
    });
    const shipments = new EventSourcedShipmentService({
      ...{ eventStore: engine.store, places: EMPTY_PLACE_LOOKUP, settings },
      ...{ logger: silentLogger, metrics: noMetrics },
    });
    const { answer } = await shipments.upsertShipment(
      createUpsertCommand({ house_bill: 'HB-1', mode: 'ocean', etd: ETD }, { at: ETD }),
    );
    const { id } = answer.shipment;
    const harness = new RecheckTestHarness(undefined, {
      ...{ shipments, settings },
      unsettledShipments: { listUnsettledShipments: async () => [{ ...SAMPLE_SCOPE, id }] },
      clock: () => new Date(Date.parse(ETD) + 2 * HOUR_MS),
    });
    harness.rechecks.changeSettings('wsp_1');
    version = 2;
    await harness.recheckAllWorkspacesOnce();
    harness.elapsed = 6_000;
    // The job reads the version of the settings, and the check cannot read them any longer.
    readsUntilFailure = 1;
    await harness.recheckAllWorkspacesOnce();
    expect(harness.rechecks.getRecheck('wsp_1')).toMatchObject({ isDone: true, checked: 1 });
    const events = await engine.store.read(toShipmentStreamName(id));
    expect(events.map(({ type }) => type)).toContain('exception.opened.v1');
  });
});
