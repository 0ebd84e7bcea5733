import { scaleTimeout } from '@tracking/testing';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT, type SystemUnderTest } from '../subject.ts';

/** Base URL in the README. The test replaces it with the URL of the tested system. */
const BASE_URL_IN_README = 'http://127.0.0.1:3000';

/** Runs the first command block of a README section. Returns one line of JSON per request. */
async function runReadmeCommands({ operator, urls }: SystemUnderTest, section: string) {
  const readme = await readFile(join(REPOSITORY_ROOT, 'README.md'), 'utf8');
  const [, text = ''] = new RegExp(`^## ${section}$(.*?)^## `, 'ms').exec(readme) ?? [];
  const [, block = ''] = [...text.matchAll(/^```bash\n(.*?)^```$/gms)].find(([, each]) => each?.includes('curl')) ?? [];
  expect(block).toContain(BASE_URL_IN_README);
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-euo', 'pipefail', '-c', block.replaceAll(BASE_URL_IN_README, urls.at(-1) ?? '')],
    { cwd: REPOSITORY_ROOT, env: operator },
  );
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export function declareQuickStartTests(subject: () => SystemUnderTest): void {
  test(
    "the commands of the README's quick start work unchanged",
    async () => {
      const [created, listed, departed, shipment, milestones] = await runReadmeCommands(subject(), 'Quick start');
      expect(created).toMatchObject({ external_id: 'PO-1000', status: 'pending', open_exceptions_count: 0 });
      expect(listed).toMatchObject({ data: [{ id: created.id }], has_more: false });
      expect(departed).toMatchObject({ shipment_id: created.id, code: 'vessel_departed', location: 'CNSHA' });
      expect(shipment).toMatchObject({ id: created.id, status: 'in_transit', atd: departed.occurred_at });
      expect(milestones.data.map(({ id }: { id: string }) => id)).toEqual([departed.id]);
    },
    scaleTimeout(60_000),
  );

  test(
    "the README's sign-in commands work unchanged",
    async () => {
      const [joined, me, invited, key, log] = await runReadmeCommands(subject(), 'People and keys');
      expect(joined).toMatchObject({ email: 'ann@example.com', name: 'Ann', role: 'admin', status: 'active' });
      expect(me).toMatchObject({ user: { id: joined.id }, workspace: { name: 'default' }, role: 'admin' });
      expect(invited).toMatchObject({ email: 'bob@example.com', status: 'invited' });
      expect(invited.invitation_url).toContain('/invitation#');
      expect(key).toMatchObject({ owner: { type: 'user', id: joined.id }, key: expect.stringMatching(/^sk_test_/) });
      const told = log.data.map(({ type }: { type: string }) => type);
      expect(told).toEqual(expect.arrayContaining(['api_key.created', 'user.invited', 'user.joined', 'user.created']));
    },
    scaleTimeout(60_000),
  );
}
