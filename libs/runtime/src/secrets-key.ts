import { ConfigError } from './config-error.ts';
import { derivedKey } from './derived-key.ts';

export interface SecretsKeySettings {
  /** 32 bytes, the same in every process that shares secrets. */
  readonly secretsKey: Uint8Array;
  /** Id of the key that was lost and that this one takes the place of. */
  readonly lostSecretsKey: string | undefined;
  /** What holds the key, as an operator knows it; `SECRETS_KEY` by default. */
  readonly keyHolder?: string;
}

/**
 * The key under which secrets are kept at rest, once it is known to be the one that they are kept under.
 * @param use takes it into use; answers the id of the one in use where that is another one
 * @throws ConfigError
 */
export async function sealingKey(
  { secretsKey, lostSecretsKey, keyHolder = 'SECRETS_KEY' }: SecretsKeySettings,
  use: (key: Uint8Array, lost: string | undefined) => Promise<string | undefined>,
): Promise<Uint8Array> {
  const key = derivedKey(secretsKey, 'webhook secrets');
  const inUse = await use(key, lostSecretsKey);
  if (inUse !== undefined) throw secretsKeyRefused(`${keyHolder} holds another key`, inUse);
  return key;
}

/**
 * The refusal of a start that could not read the secrets kept at rest, with what to do.
 * @param fault what is wrong, as a clause that names the setting
 * @param keyInUse id of the key that they are sealed with
 */
export function secretsKeyRefused(fault: string, keyInUse: string): ConfigError {
  return new ConfigError(
    `${fault}, while secrets are stored under the key ${keyInUse}: put that one back, from a backup for instance; if it ` +
      `is lost, start with SECRETS_KEY_LOST=${keyInUse}, then rotate the secrets of the webhook endpoints and set their headers again`,
  );
}
