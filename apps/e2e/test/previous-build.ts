import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT } from './subject.ts';

const execFileAsync = promisify(execFile);
const PACKAGE_SCOPE = '@tracking';
/** Build of the web application, which takes too long to be repeated for another commit. */
const WEB_APP_BUILD_FOLDER = 'apps/web/dist';

/** A build of another commit, in a folder of its own. */
export interface BuildOfPreviousCommit {
  readonly commit: string;
  /** Folder of the repository at that commit, with a slash at the end. */
  readonly root: string;
}

/**
 * Builds a commit of this repository, with the installed packages of this checkout.
 * @param commit name of the commit; by default `PREVIOUS_COMMIT`, otherwise the parent of the current commit
 * @returns undefined if the repository has no such commit, as in a shallow clone, or if the parent of the current commit
 *   needs other packages
 */
export async function buildPreviousCommit(
  folder: string,
  commit = process.env['PREVIOUS_COMMIT'],
): Promise<BuildOfPreviousCommit | undefined> {
  const git = (...args: string[]) => execFileAsync('git', args, { cwd: REPOSITORY_ROOT });
  const id = await git('rev-parse', '--verify', '--quiet', `${commit ?? 'HEAD~1'}^{commit}`).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (id === undefined) return undefined;
  const hasSamePackages = await git('diff', '--quiet', id, '--', 'package-lock.json').then(
    () => true,
    () => false,
  );
  if (commit === undefined && !hasSamePackages) return undefined;
  const root = join(folder, id);
  await mkdir(root, { recursive: true });
  const archive = join(folder, `${id}.tar`);
  await git('archive', '--output', archive, id);
  await execFileAsync('tar', ['--extract', '--file', archive, '--directory', root]);
  await rm(archive);
  await linkPackages(root);
  await execFileAsync(process.execPath, ['tools/build.mjs'], { cwd: root });
  await symlink(join(REPOSITORY_ROOT, WEB_APP_BUILD_FOLDER), join(root, WEB_APP_BUILD_FOLDER));
  return { commit: id, root: `${root}/` };
}

/** Links third-party packages to this checkout, and packages of the workspace to the other commit. */
async function linkPackages(root: string): Promise<void> {
  const [from, to] = [join(REPOSITORY_ROOT, 'node_modules'), join(root, 'node_modules')];
  await mkdir(join(to, PACKAGE_SCOPE), { recursive: true });
  const packages = (await readdir(from)).filter((name) => name !== PACKAGE_SCOPE && !name.startsWith('.'));
  await Promise.all(packages.map((name) => symlink(join(from, name), join(to, name))));
  const workspace = await realpath(REPOSITORY_ROOT);
  for (const name of await readdir(join(from, PACKAGE_SCOPE))) {
    const target = relative(workspace, await realpath(join(from, PACKAGE_SCOPE, name)));
    await symlink(join(root, target), join(to, PACKAGE_SCOPE, name));
    // Some packages of the workspace have versions of their own of third-party packages.
    const own = join(workspace, target, 'node_modules');
    if (existsSync(own) && existsSync(join(root, target))) await symlink(own, join(root, target, 'node_modules'));
  }
}
