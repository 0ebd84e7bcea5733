import { runCommandLineForTest } from '../test/run.ts';
import { startStubAdministration, type StubAdministration } from '../test/stub-administration.ts';

const EMAIL = 'ann@example.com';
const PASSWORD = ' a quiet harbour ';
const LINK = 'http://127.0.0.1:3000/invitation#secret';

/** Commands with a service that has one user. */
describe('users and their keys', () => {
  let service: StubAdministration;
  let answers: Readonly<Record<string, object>>;

  beforeAll(async () => {
    service = await startStubAdministration((each) => {
      return answers[each.route] ?? {};
    });
  });
  beforeEach(() => {
    service.requests = [];
    answers = {
      'POST /users': { ...user, invitation_url: LINK, invitation_expires_at: '2026-11-28T09:30:00.000Z' },
      'GET /users': { data: [user] },
      'POST /users/set_role': { ...user, role: 'viewer' },
      'POST /users/deactivate': { ...user, status: 'deactivated' },
      'POST /users/reset_password': {
        reset_url: LINK,
        expires_at: '2026-11-28T09:30:00.000Z',
        revoked_api_keys_count: 0,
      },
      'POST /keys': { id: 'key_1', key: 'sk_test_1' },
    };
  });
  afterAll(() => service.close());

  const user = {
    id: 'usr_1',
    workspace_id: 'wsp_1',
    name: null,
    email: EMAIL,
    role: 'operator',
    status: 'invited',
    created_by: { type: 'system', id: 'administration' },
    created_at: '2026-11-21T09:30:00.000Z',
    last_seen_at: null,
    version: 1,
  };
  const note = () => `data folder: ${service.folder}\n`;
  const cli = (line: string, input = '') => runCommandLineForTest(service.config, line.split(' '), undefined, input);

  it.each([
    ['users create --email ann@example.com --role operator', `${LINK}\n`, { email: EMAIL, role: 'operator' }],
    ['users set-role ann@example.com viewer', `${EMAIL} has the role viewer\n`, { email: EMAIL, role: 'viewer' }],
    ['users deactivate ann@example.com', `${EMAIL} is deactivated\n`, { email: EMAIL }],
    ['users reset-password ann@example.com', `${LINK}\n`, { email: EMAIL }],
    ['users reset-password ann@example.com --revoke-keys', `${LINK}\n`, { email: EMAIL, revoke_api_keys: true }],
    [
      'keys create --name mine --environment test --user ann@example.com',
      'sk_test_1\n',
      { name: 'mine', environment: 'test', user: EMAIL },
    ],
  ])('%s prints only the result', async (line, out, body) => {
    expect(await cli(line)).toEqual({ code: 0, out, err: note() });
    expect(await cli(`${line} --workspace Acme`)).toMatchObject({ code: 0, out });
    expect(service.requests.map(({ body }) => body)).toEqual([
      { ...body, workspace: 'default' },
      { ...body, workspace: 'Acme' },
    ]);
    const json = await cli(`${line} --json`);
    const [answer] = service.requests.slice(-1).map(({ route }) => answers[route]);
    expect([JSON.parse(json.out), json.err, json.code]).toEqual([answer, '', 0]);
  });

  it('are listed', async () => {
    const { out } = await cli('users list');
    expect(out.split('\n')[0]).toMatch(/^ID +E-MAIL +NAME +ROLE +STATUS +CREATED +LAST SEEN$/);
    expect(out.split('\n')[1]).toMatch(/^usr_1 +ann@example.com +- +operator +invited +2026\S+Z +-$/);
    expect(service.requests.map(({ query }) => query)).toEqual([{ workspace: 'default' }]);
    expect(JSON.parse((await cli('users list --json')).out)).toEqual({ data: [user] });
    answers = { 'GET /users': { data: [] } };
    expect((await cli('users list --workspace Acme')).out).toBe('no items in workspace Acme\n');
  });

  it.each([
    ['as it is', PASSWORD],
    ['without the newline behind it', `${PASSWORD}\n`],
    ['without that of other systems', `${PASSWORD}\r\n`],
  ])('a password is read from a pipe, %s, and never printed', async (_what, input) => {
    answers = { 'POST /users': { ...user, status: 'active', invitation_url: null } };
    const line = 'users create --email ann@example.com --role admin --password-stdin';
    const plain = await cli(line, input);
    expect(plain).toEqual({ code: 0, out: 'usr_1\n', err: note() });
    expect(service.requests.map(({ body }) => body)).toEqual([
      { workspace: 'default', email: EMAIL, role: 'admin', password: PASSWORD },
    ]);
    const json = await cli(`${line} --json`, input);
    expect(plain.out + plain.err + json.out + json.err).not.toContain(PASSWORD.trim());
  });

  it('a password is requested before the service starts, and only once if the service stops', async () => {
    let isThere = false;
    const stopping = await startStubAdministration(() => {
      if (isThere) return { ...user, invitation_url: null };
      isThere = true;
      return undefined;
    });
    const line = ['users', 'create', '--email', EMAIL, '--role', 'admin', '--password-stdin'];
    expect(await runCommandLineForTest(stopping.config, line, undefined, `${PASSWORD}\n`)).toMatchObject({
      code: 0,
      out: 'usr_1\n',
    });
    await stopping.close();
    expect(stopping.requests.map(({ body }) => body)).toEqual(
      Array(2).fill(expect.objectContaining({ password: PASSWORD })),
    );
    expect(await runCommandLineForTest(stopping.config, line, undefined, '\n')).toEqual({
      code: 2,
      out: '',
      err: 'error: standard input contains no password\n',
    });
  });

  it.each([
    [2, { code: 'validation_failed', details: [{ param: 'password', message: 'Is too common.' }] }],
    [2, { code: 'validation_failed', details: [{ param: 'email', message: 'Is no e-mail address.' }] }],
  ])('exits with %i on %j', async (code, error) => {
    answers = { 'POST /users': { error } };
    const refused = await cli('users create --email ann@example.com --role admin --password-stdin', PASSWORD);
    const [{ param, message } = { param: '', message: '' }] = error.details;
    expect(refused).toEqual({ code, out: '', err: `${note()}error: ${param}: ${message}\n` });
  });
});
