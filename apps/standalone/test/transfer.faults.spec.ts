import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  listAllItems,
  runCliProcessForOutput,
  createTestApiClient,
  INHERITED_ENVIRONMENT,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
} from './standalone-process.ts';

interface Resource {
  readonly id: string;
}

/** Reads everything that a key can see, in a fixed order. */
async function seen(url: string, key: string): Promise<readonly unknown[]> {
  const api = createTestApiClient(url, key);
  const byId = (one: Resource, other: Resource) => (one.id < other.id ? -1 : 1);
  const shipments = await listAllItems<Resource>(api, '/v1/shipments');
  const timelines = await Promise.all(
    shipments.map(({ id }) => listAllItems<Resource>(api, `/v1/shipments/${id}/milestones`)),
  );
  const events = await listAllItems<Resource>(api, '/v1/events');
  return [shipments.sort(byId), timelines.flat().sort(byId), events.sort(byId)];
}

/** Runs the command line with standard input and returns its standard output. */
function piped(dataDir: string, line: readonly string[], input = ''): string {
  const main = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url));
  const env = { ...INHERITED_ENVIRONMENT, DATA_DIR: dataDir };
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...line], { env, input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

describe('events of one system, imported into another', () => {
  it('result in the same responses in every workspace', async () => {
    await withTemporaryFolder(async (folder) => {
      const [from, to, file] = [join(folder, 'from'), join(folder, 'to'), join(folder, 'events.jsonl')];
      const workspaces = ['default', 'acme'];
      const before: (readonly unknown[])[] = [];
      const one = await startStandaloneProcess(from);
      await runCliProcessForOutput(from, 'workspaces', 'create', '--name', 'acme');
      for (const workspace of workspaces) {
        const key = await createKey(from, 'live', 'operator', workspace);
        const api = createTestApiClient(one.url, key);
        for (let n = 0; n < 5; n += 1) {
          const { data } = await api.post<Resource>('/v1/shipments', {
            external_id: `${workspace}-${n}`,
            mode: 'ocean',
          });
          for (const code of ['gated_in', 'loaded_on_vessel', 'vessel_departed']) {
            const occurred_at = `2026-11-0${n + 1}T08:00:00Z`;
            await api.post(`/v1/shipments/${data.id}/milestones`, { code, occurred_at, location: 'CNSHA' });
          }
        }
        before.push(await seen(one.url, key));
      }
      // Exported while the server runs.
      const exported = JSON.parse(await runCliProcessForOutput(from, 'events', 'export', file, '--json')) as {
        events: number;
      };
      const listed = JSON.parse(
        await runCliProcessForOutput(from, 'events', 'list', '--workspace', 'acme', '--limit', '500', '--json'),
      );
      const byId = (list: readonly Resource[]) => list.map(({ id }) => id).sort();
      expect(byId(listed.data)).toEqual(byId(before[1]?.[2] as Resource[]));
      await one.stop();
      expect(exported.events).toBeGreaterThan(40);

      const cut = join(folder, 'cut.jsonl');
      await writeFile(cut, (await readFile(file, 'utf8')).split('\n').slice(0, 30).join('\n'));
      await expect(runCliProcessForOutput(to, 'events', 'import', cut)).rejects.toThrow('is incomplete');
      // Imported without a server, through a pipe.
      const stream = piped(from, ['events', 'export', '-']);
      const lines = (text: string) =>
        text
          .trimEnd()
          .split('\n')
          .map((line): unknown => JSON.parse(line));
      expect(lines(stream)).toEqual(lines(await readFile(file, 'utf8')));
      piped(to, ['events', 'import', '-'], stream);
      expect(JSON.parse(await runCliProcessForOutput(to, 'events', 'import', file, '--json'))).toEqual({
        ...exported,
        conflicts: [],
      });

      const other = await startStandaloneProcess(to);
      for (const [index, workspace] of workspaces.entries()) {
        const key = await createKey(to, 'live', 'operator', workspace);
        expect(await seen(other.url, key)).toEqual(before[index]);
      }
      await other.stop();
    });
  });
});
