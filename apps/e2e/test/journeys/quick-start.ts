import { patient } from '@tracking/testing';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, type Subject } from '../subject.ts';

/** The README's address of the API, in whose place the commands get the subject's. */
const README_URL = 'http://127.0.0.1:3000';

export function quickStartJourney(subject: () => Subject): void {
  test(
    "the README's quick start, word for word",
    async () => {
      const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
      const [, section = ''] = /^## Quick start$(.*?)^## /ms.exec(readme) ?? [];
      const [, user = ''] = [...section.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, block = '']) => block);
      expect(user).toContain(README_URL);
      const { operator, urls } = subject();
      const { stdout } = await promisify(execFile)(
        'bash',
        ['-euo', 'pipefail', '-c', user.replaceAll(README_URL, urls.at(-1) ?? '')],
        { cwd: ROOT, env: operator },
      );
      const [created, listed, departed, shipment, milestones] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(created).toMatchObject({ external_id: 'PO-1001', status: 'pending' });
      expect(listed).toMatchObject({ data: [{ id: created.id }], has_more: false });
      expect(departed).toMatchObject({ shipment_id: created.id, code: 'vessel_departed', location: 'CNSHA' });
      expect(shipment).toMatchObject({ id: created.id, status: 'in_transit', atd: '2026-11-02T02:30:00.000Z' });
      expect(milestones.data.map(({ id }: { id: string }) => id)).toEqual([departed.id]);
    },
    patient(60_000),
  );
}
