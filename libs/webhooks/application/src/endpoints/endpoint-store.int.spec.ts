import { randomBytes } from 'node:crypto';
import { WebhooksTestStage } from '../../test/stage.ts';
import { findSecretsKeyId, useSecretsKey } from '../index.ts';
import { SecretBox } from './secrets.ts';

const [mine, other] = [randomBytes(32), randomBytes(32)];
const idOf = (key: Uint8Array) => new SecretBox(key).keyId;

describe('the key that secrets are stored under', () => {
  let stage: WebhooksTestStage;
  beforeEach(async () => void (stage = await WebhooksTestStage.open()));
  afterEach(() => stage.close());

  const use = (key: Uint8Array, lost?: string) => useSecretsKey(stage.engine.documentStore, key, lost);
  const inUse = () => findSecretsKeyId(stage.engine.documentStore);

  it('is the first one that was used, and no other from then on', async () => {
    expect(await inUse()).toBeUndefined();
    expect(await use(mine)).toBeUndefined();
    expect(await use(mine)).toBeUndefined();
    expect(await use(other)).toBe(idOf(mine));
    expect(await inUse()).toBe(idOf(mine));
  });

  it('is one of those that come first at once', async () => {
    const keys = Array.from({ length: 8 }, () => randomBytes(32));
    const answers = await Promise.all(keys.map((key) => use(key)));
    const winner = await inUse();
    expect(answers).toEqual(keys.map((key) => (idOf(key) === winner ? undefined : winner)));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
  });

  it('is found by what it sealed where nobody noted it', async () => {
    stage.secretsKey = mine;
    await stage.endpoint(await stage.start(), 'https://receiver.example/hooks');
    expect(await inUse()).toBe(idOf(mine));
    expect(await use(other)).toBe(idOf(mine));
    expect(await use(mine)).toBeUndefined();
  });

  it('gives way to another one only where it is called lost by its id', async () => {
    await use(mine);
    expect(await use(other, 'ffffffff')).toBe(idOf(mine));
    expect(await use(other, idOf(mine))).toBeUndefined();
    expect(await use(mine)).toBe(idOf(other));
    // What was said once does not take the next key out of use.
    expect(await use(randomBytes(32), idOf(mine))).toBe(idOf(other));
  });

  it('that was lost leaves endpoints to which nothing can be sent: a conflict, and what to do', async () => {
    stage.secretsKey = mine;
    const before = await stage.start();
    const { id } = await stage.endpoint(before, 'https://receiver.example/hooks');
    await before.stop();
    stage.secretsKey = other;
    const after = await stage.start();
    const command = { ...stage.command(), endpoint_id: id };
    for (const sending of [
      after.endpoints.verify(command),
      after.endpoints.test({ ...command, type: 'shipment.created' }),
    ])
      await expect(sending).rejects.toMatchObject({ code: 'secret_unreadable' });
    expect(await after.endpoints.remove(command)).toEqual({ id, deleted: true });
  });

  it('gives way likewise where nobody noted it', async () => {
    stage.secretsKey = mine;
    await stage.endpoint(await stage.start(), 'https://receiver.example/hooks');
    expect(await use(other, idOf(mine))).toBeUndefined();
    expect(await inUse()).toBe(idOf(other));
  });
});
