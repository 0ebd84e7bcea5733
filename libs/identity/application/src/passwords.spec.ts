import { DomainError } from '@tracking/contracts';
import { BusyError } from '@tracking/ports';
import { computeArgon2idHash, requirePasswordMeetsPolicy, DEFAULT_HASH_COST, Passwords } from './passwords.ts';

/** The lowest cost that argon2 accepts: the tests do not depend on the cost. */
const CHEAP = { memory: 8, passes: 1, parallelism: 1 };
const PASSWORD = 'a horse in the rain';

describe('a stored password', () => {
  it('is an argon2id hash in the common format, with a new salt each time', async () => {
    const passwords = new Passwords();
    const [one, two] = [await passwords.hashPassword(PASSWORD), await passwords.hashPassword(PASSWORD)];
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[0-9A-Za-z+/]{22}\$[0-9A-Za-z+/]{43}$/);
    expect(two).not.toBe(one);
    expect(await passwords.verifyPassword(PASSWORD, one)).toBe(true);
    expect(await passwords.verifyPassword(`${PASSWORD} `, one)).toBe(false);
    expect(await passwords.verifyPassword('', one)).toBe(false);
  });

  it('matches the output of other implementations', async () => {
    // `argon2 somesalt -id -k 256 -t 2 -p 1 -l 32` of the reference implementation, version 19
    const reference = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
    expect(await new Passwords({ cost: CHEAP }).verifyPassword('password', reference)).toBe(true);
    expect(await new Passwords({ cost: CHEAP }).verifyPassword('Password', reference)).toBe(false);
  });

  it("is the same however the password's characters are typed", async () => {
    const passwords = new Passwords({ cost: CHEAP });
    const stored = await passwords.hashPassword('Z\u00fcrich am See \ufb01n');
    expect(await passwords.verifyPassword('Zu\u0308rich am See fin', stored)).toBe(true);
  });

  it('is outdated if new hashes have another cost', async () => {
    const stored = await new Passwords({ cost: CHEAP }).hashPassword(PASSWORD);
    expect(new Passwords({ cost: CHEAP }).isOutdatedHash(stored)).toBe(false);
    const dearer = new Passwords({ cost: { ...CHEAP, passes: 2 } });
    expect(dearer.isOutdatedHash(stored)).toBe(true);
    expect(await dearer.verifyPassword(PASSWORD, stored)).toBe(true);
    expect(dearer.isOutdatedHash(await dearer.hashPassword(PASSWORD))).toBe(false);
  });

  it('throws an error if it is malformed, instead of refusing the password', async () => {
    const passwords = new Passwords({ cost: CHEAP });
    await expect(passwords.verifyPassword(PASSWORD, PASSWORD)).rejects.toThrow('not an argon2id hash');
  });
});

describe('the time to check a wrong password', () => {
  let computed: number;
  let atOnce: number;
  let mostAtOnce: number;
  /** Counts the computed hashes. */
  const derive: typeof computeArgon2idHash = async (...input) => {
    computed += 1;
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    return computeArgon2idHash(...input).finally(() => (atOnce -= 1));
  };
  beforeEach(() => {
    computed = atOnce = mostAtOnce = 0;
  });

  it('is the same with and without a stored hash', async () => {
    const passwords = new Passwords({ cost: CHEAP, derive });
    const stored = await passwords.hashPassword(PASSWORD);
    const work = async (given: string, at: string | null | undefined) => {
      const before = computed;
      expect(await passwords.verifyPassword(given, at)).toBe(false);
      return computed - before;
    };
    expect(await work('wrong', stored)).toBe(1);
    expect(await work('wrong', undefined)).toBe(1);
    expect(await work(PASSWORD, null)).toBe(1);
    expect(await work('x'.repeat(1_000_000), stored)).toBe(1);
  });

  it('is bounded: hashes run one after another, and are refused if too many wait', async () => {
    const passwords = new Passwords({ cost: CHEAP, maxWaiting: 20, derive });
    const stored = await passwords.hashPassword(PASSWORD);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 1_000 }, () => passwords.verifyPassword('wrong', stored)),
    );
    const refused = outcomes.filter((each) => each.status === 'rejected');
    expect(refused).toHaveLength(980);
    expect(refused.every(({ reason }) => reason instanceof BusyError)).toBe(true);
    expect(computed).toBe(21);
    expect(mostAtOnce).toBe(1);
    expect(await passwords.verifyPassword(PASSWORD, stored)).toBe(true);
  });
});

describe('a new password', () => {
  const refusal = (password: string, email = 'jo.doe@example.com') => {
    try {
      requirePasswordMeetsPolicy(password, email);
    } catch (error) {
      expect(error).toBeInstanceOf(DomainError);
      return (error as DomainError).details[0];
    }
    return undefined;
  };

  it.each([
    ['a horse in the rain'],
    ['          a'],
    ['x'.repeat(190) + 'correct up'],
    ['пароль-из-слов'],
    ['🐎🐎🐎🐎🐎🐎🐎🐎🐎🐎'],
    ['jo.doe@example.com!'],
  ])('may be %j', (password) => expect(refusal(password)).toBeUndefined());

  it.each([
    ['too short', '123 45 ab', 'invalid_value'],
    ['too short once its characters are composed', 'u\u0308'.repeat(9), 'invalid_value'],
    ['too long', 'y'.repeat(201), 'too_long'],
    ['much too long', 'y'.repeat(1_000_000), 'too_long'],
    ['the e-mail', 'Jo.Doe@Example.com', 'invalid_value'],
    ['among the most common ones', 'Password123', 'invalid_value'],
    ['half a character', 'a horse in the \ud800', 'invalid_value'],
  ])('may not be %s', (_what, password, code) => expect(refusal(password)).toMatchObject({ param: 'password', code }));

  it('may not be the local part of the e-mail address', () => {
    expect(refusal('johannadoe', 'Johanna Doe@x.example'.replace(' ', ''))).toMatchObject({ code: 'invalid_value' });
  });

  it('never appears in the error', () => {
    for (const password of ['Password123', 'short pw', 'jo.doe@example.com']) {
      expect(JSON.stringify(refusal(password))).not.toContain(password);
    }
  });
});

it('has at least the cost that OWASP recommends', () =>
  expect(DEFAULT_HASH_COST).toEqual({ memory: 19_456, passes: 2, parallelism: 1 }));
