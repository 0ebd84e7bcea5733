import { DEFAULT_RULE_SETTINGS, type RuleSettings } from '@tracking/contracts';
import { type EventStore, UnavailableError } from '@tracking/ports';
import { noMetrics, silentLogger } from '@tracking/testing';
import { createUpsertCommand, EMPTY_PLACE_LOOKUP } from '../test/builders.ts';
import { createCachedRuleSettingsReader } from './decide-batch.ts';
import { EventSourcedShipmentService } from './shipments.ts';

const away = new UnavailableError('document store', 'gone');

describe('cached settings', () => {
  let isAway: boolean;
  let settings: RuleSettings;
  const reader = {
    getCachedSettings: async () => {
      if (isAway) throw away;
      return settings;
    },
  };
  beforeEach(() => {
    isAway = false;
    settings = { ...DEFAULT_RULE_SETTINGS };
  });

  it('are those of the reader, and the last known ones while it is unavailable', async () => {
    const { getCachedSettings } = createCachedRuleSettingsReader(reader);
    expect(await getCachedSettings('wsp_1')).toBe(settings);
    const last = (settings = { ...DEFAULT_RULE_SETTINGS });
    expect(await getCachedSettings('wsp_1')).toBe(last);
    isAway = true;
    expect(await getCachedSettings('wsp_1')).toBe(last);
    isAway = false;
    settings = { ...DEFAULT_RULE_SETTINGS };
    expect(await getCachedSettings('wsp_1')).toBe(settings);
  });

  it('do not exist for a workspace that was never read', async () => {
    const { getCachedSettings } = createCachedRuleSettingsReader(reader);
    await getCachedSettings('wsp_1');
    isAway = true;
    await expect(getCachedSettings('wsp_2')).rejects.toBe(away);
  });

  it('are limited to the workspaces used last', async () => {
    const { getCachedSettings } = createCachedRuleSettingsReader(reader, 2);
    for (const id of ['wsp_1', 'wsp_2', 'wsp_1', 'wsp_3']) await getCachedSettings(id);
    isAway = true;
    expect(await getCachedSettings('wsp_1')).toBe(settings);
    expect(await getCachedSettings('wsp_3')).toBe(settings);
    await expect(getCachedSettings('wsp_2')).rejects.toBe(away);
  });
});

it('settings are read while the stream of an unknown shipment is being read', async () => {
  const reading = Promise.withResolvers<void>();
  const eventStore = {
    read: () => reading.promise.then(() => []),
    append: () => Promise.resolve({ revision: 0, position: '1' }),
  } as unknown as EventStore;
  const settings = {
    getCachedSettings: () => {
      reading.resolve();
      return Promise.resolve(DEFAULT_RULE_SETTINGS);
    },
  };
  const shipments = new EventSourcedShipmentService({
    ...{ eventStore, settings, places: EMPTY_PLACE_LOOKUP },
    ...{ logger: silentLogger, metrics: noMetrics },
  });
  const { answer } = await shipments.upsertShipment(createUpsertCommand({ external_id: 'PO-1' }));
  expect(answer.outcome).toBe('created');
});
