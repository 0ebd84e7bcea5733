import { firstKeyCommand, welcome } from './welcome.ts';

const where = {
  url: 'http://127.0.0.1:3000',
  managementUrl: 'http://127.0.0.1:9464',
  dataDir: '/srv/data',
  isDefaultDataDir: true,
  allowsLocalReceivers: false,
};

describe('the welcome at a terminal', () => {
  it('says where everything is, what to call first, and how to stop', () => {
    const text = welcome(where);
    for (const part of ['http://127.0.0.1:3000\n', '/docs', ':9464/metrics', '/srv/data', '--role developer', 'Ctrl-C'])
      expect(text).toContain(part);
  });

  it('shows how somebody becomes the first admin, while nobody is', () => {
    const link = {
      address: 'https://app.example/invitation#secret',
      token: 'secret',
      expires_at: '2026-11-29T09:30:00Z',
    };
    const text = welcome({ ...where, firstAdminLink: link });
    for (const part of [
      `\n      ${link.address}\n`,
      'until 2026-11-29:',
      '3000/v1/invitations/secret ',
      'X-Requested-With',
    ])
      expect(text).toContain(part);
    expect(welcome(where)).not.toMatch(/admin|invitation/);
  });

  it('says how webhooks come to this machine, or that they do', () => {
    expect(welcome(where)).toContain('npm run dev');
    const allowing = welcome({ ...where, allowsLocalReceivers: true });
    expect(allowing).toContain('npm run listen -- --key "$KEY"');
    expect(allowing).not.toContain('npm run dev');
  });

  it('names the data folder to the command line where that would look for another', () => {
    expect(firstKeyCommand(where)).toMatch(/^npm run/);
    expect(firstKeyCommand({ ...where, isDefaultDataDir: false })).toMatch(/^DATA_DIR=\/srv\/data npm run/);
    const dataDir = "/home/o'neil/my data";
    expect(firstKeyCommand({ ...where, dataDir, isDefaultDataDir: false })).toMatch(
      /^DATA_DIR='\/home\/o'\\''neil\/my data' npm run/,
    );
  });
});
