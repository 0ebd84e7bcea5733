import { DomainError } from '@tracking/contracts';
import { ConfigReader } from './config.ts';
import { ConfigError } from './setting-types.ts';
import { createFirstAdmin, readFirstAdminConfig } from './shared-config.ts';

const first = (env: Readonly<Record<string, string>>) => readFirstAdminConfig(new ConfigReader(env));
const [ADMIN_EMAIL, ADMIN_PASSWORD] = ['ann@example.com', 'a quiet harbour'];

describe('the first admin', () => {
  it('is set by both settings, or by neither', () => {
    expect(first({ ADMIN_EMAIL, ADMIN_PASSWORD })).toEqual({ email: ADMIN_EMAIL, password: ADMIN_PASSWORD });
    expect(first({})).toBeUndefined();
    expect(first({ ADMIN_EMAIL: '', ADMIN_PASSWORD: '' })).toBeUndefined();
  });

  it.each([
    [{ ADMIN_EMAIL }, /^ADMIN_EMAIL is set but ADMIN_PASSWORD is not[^\n]*$/],
    [{ ADMIN_PASSWORD }, /^ADMIN_PASSWORD is set but ADMIN_EMAIL is not[^\n]*$/],
    [{ ADMIN_EMAIL: 'ann', ADMIN_PASSWORD }, /^ADMIN_EMAIL: [^\n]*$/],
    [{ ADMIN_EMAIL, ADMIN_PASSWORD: 'harbour' }, /^ADMIN_PASSWORD: [^\n]*$/],
  ])('%j is rejected with one line, without the password', (env, line) => {
    const act = () => first(env);
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(line);
    expect(act).not.toThrow(/harbour/);
  });

  it.each([
    [
      'ADMIN_PASSWORD: Must not be one of the most common passwords.',
      faulty('password', 'Must not be one of the most common passwords.'),
    ],
    ['ADMIN_EMAIL: Is no e-mail address.', faulty('email', 'Is no e-mail address.')],
    ['ADMIN_EMAIL: Somebody has it.', new DomainError('user_exists', 'Somebody has it.')],
  ])('is rejected by %s', async (line, refusal) => {
    const refused = createFirstAdmin({ email: ADMIN_EMAIL, password: ADMIN_PASSWORD }, () => Promise.reject(refusal));
    await expect(refused).rejects.toMatchObject({ name: 'ConfigError', message: line });
  });
});

function faulty(param: string, message: string): DomainError {
  return new DomainError('validation_failed', 'It is not valid.', [{ param, code: 'invalid_value', message }]);
}
