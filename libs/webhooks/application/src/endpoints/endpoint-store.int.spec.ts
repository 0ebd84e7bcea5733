import { randomBytes } from 'node:crypto';
import { WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import { getSecretsKeyId, storeOrCheckSecretsKey } from '../index.ts';
import { SecretBox } from './secrets.ts';

const [mine, other] = [randomBytes(32), randomBytes(32)];
const idOf = (key: Uint8Array) => new SecretBox(key).keyId;

describe('the secrets key in use', () => {
  let harness: WebhooksTestHarness;
  beforeEach(async () => void (harness = await WebhooksTestHarness.openWebhooksHarness()));
  afterEach(() => harness.closeWebhooksHarness());

  const use = (key: Uint8Array, lost?: string) => storeOrCheckSecretsKey(harness.engine.documentStore, key, lost);
  const inUse = () => getSecretsKeyId(harness.engine.documentStore);

  it('is the first key used, and stays the only one', async () => {
    expect(await inUse()).toBeUndefined();
    expect(await use(mine)).toBeUndefined();
    expect(await use(mine)).toBeUndefined();
    expect(await use(other)).toBe(idOf(mine));
    expect(await inUse()).toBe(idOf(mine));
  });

  it('is one of several keys used concurrently at first', async () => {
    const keys = Array.from({ length: 8 }, () => randomBytes(32));
    const answers = await Promise.all(keys.map((key) => use(key)));
    const winner = await inUse();
    expect(answers).toEqual(keys.map((key) => (idOf(key) === winner ? undefined : winner)));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
  });

  it('is derived from sealed secrets if it was not stored', async () => {
    harness.secretsKey = mine;
    await harness.createEnabledEndpoint(await harness.startWebhooks(), 'https://receiver.example/hooks');
    expect(await inUse()).toBe(idOf(mine));
    expect(await use(other)).toBe(idOf(mine));
    expect(await use(mine)).toBeUndefined();
  });

  it('is replaced only by naming it as lost', async () => {
    await use(mine);
    expect(await use(other, 'ffffffff')).toBe(idOf(mine));
    expect(await use(other, idOf(mine))).toBeUndefined();
    expect(await use(mine)).toBe(idOf(other));
    // A key named as lost once does not remove the next key.
    expect(await use(randomBytes(32), idOf(mine))).toBe(idOf(other));
  });

  it('that was lost leaves endpoints that cannot be sent to: a conflict with instructions', async () => {
    harness.secretsKey = mine;
    const before = await harness.startWebhooks();
    const { id } = await harness.createEnabledEndpoint(before, 'https://receiver.example/hooks');
    await before.stop();
    harness.secretsKey = other;
    const after = await harness.startWebhooks();
    const command = { ...harness.createSampleWebhookCommand(), endpoint_id: id };
    for (const sending of [
      after.endpoints.verify(command),
      after.endpoints.test({ ...command, type: 'shipment.created' }),
    ])
      await expect(sending).rejects.toMatchObject({ code: 'secret_unreadable' });
    expect(await after.endpoints.remove(command)).toEqual({ id, deleted: true });
  });

  it('is also replaced if it was not stored', async () => {
    harness.secretsKey = mine;
    await harness.createEnabledEndpoint(await harness.startWebhooks(), 'https://receiver.example/hooks');
    expect(await use(other, idOf(mine))).toBeUndefined();
    expect(await inUse()).toBe(idOf(other));
  });
});
