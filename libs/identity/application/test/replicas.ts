import { randomBytes } from 'node:crypto';
import { DomainError } from '@tracking/contracts';
import type { Actor } from '@tracking/contracts';
import type { DocumentStore } from '@tracking/ports';
import { silentLogger } from '@tracking/testing';
import { IdentityServices } from '../src/index.ts';
import type { IdentityCommand } from '../src/index.ts';
import { computeArgon2idHash } from '../src/passwords.ts';
import { openTestStorage } from './storage.ts';

const COMMAND_LINE_ACTOR: Actor = { type: 'system', id: 'administration' };
/** The lowest cost that argon2 accepts. */
export const CHEAP_HASH_COST = { memory: 8, passes: 1, parallelism: 1 };

interface ReplicaOptions {
  readonly documentStore?: DocumentStore;
  /** Cost of password hashes. */
  readonly cost?: typeof CHEAP_HASH_COST;
}

/** Any number of processes over one store, with a clock that tests set. */
export async function openIdentityReplicas() {
  const storage = await openTestStorage();
  const opened: IdentityServices[] = [];
  const secret = randomBytes(32);
  const time = { now: Date.parse('2026-03-01T12:00:00.000Z') };
  const work = { hashes: 0 };
  let commands = 0;
  const at = () => new Date(time.now).toISOString();
  const workspace = async (name: string) => {
    const [identity = await openIdentityServicesForTest()] = opened;
    return (await identity.workspaces.findWorkspaceByName(name)) ?? (await identity.workspaces.createWorkspace(name));
  };

  async function openIdentityServicesForTest({
    documentStore = storage.documentStore,
    cost = CHEAP_HASH_COST,
  }: ReplicaOptions = {}): Promise<IdentityServices> {
    const identity = await IdentityServices.openIdentity({
      documentStore,
      secret,
      clock: () => new Date(time.now),
      elapsed: () => time.now,
      logger: silentLogger,
      passwords: {
        cost,
        derive: async (...input) => {
          work.hashes += 1;
          return computeArgon2idHash(...input);
        },
      },
    });
    opened.push(identity);
    return identity;
  }

  return {
    openIdentityReplica: openIdentityServicesForTest,
    time,
    work,
    documentStore: storage.documentStore,
    content: storage.readAllFilesOfStorageFolder,
    /** A command in the workspace, by an operator by default. */
    async createTestCommand(
      of: Partial<IdentityCommand> & { readonly workspace?: string } = {},
    ): Promise<IdentityCommand> {
      const { workspace: name = 'default', ...rest } = of;
      commands += 1;
      return {
        id: `command ${commands}`,
        at: at(),
        actor: COMMAND_LINE_ACTOR,
        workspace_id: (await workspace(name)).id,
        ...rest,
      };
    },
    async close() {
      await Promise.all(opened.map((identity) => identity.closeIdentityAfterPendingWrites()));
      await storage.close();
    },
  };
}

/** Returns the error with which a promise is rejected. */
export async function captureRefusal(outcome: Promise<unknown>): Promise<DomainError> {
  const error = await outcome.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DomainError);
  return error as DomainError;
}
