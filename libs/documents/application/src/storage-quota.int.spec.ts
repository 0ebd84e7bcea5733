import { openTestEngine } from '@tracking/embedded/testing';
import {
  BusyError,
  type Collection,
  type CollectionSpec,
  type Document,
  type DocumentStore,
  UnavailableError,
} from '@tracking/ports';
import { eventually, noMetrics, silentLogger, type TempFolder, createTempFolder } from '@tracking/testing';
import { StorageQuotaLimiter, type StorageQuotaOptions, StorageQuotaExceededError } from './index.ts';

const WORKSPACE = 'ws_1';
const HOUR_MS = 3_600_000;

describe('storage quota', () => {
  let folder: TempFolder;
  let engine: Awaited<ReturnType<typeof openTestEngine>>;
  let now: number;
  /** Bytes that the read model counts. */
  let counted: number;
  let isCounted: boolean;
  beforeEach(async () => {
    folder = await createTempFolder();
    engine = await openTestEngine(folder.path, { logger: silentLogger, metrics: noMetrics });
    [now, counted, isCounted] = [Date.now(), 0, true];
  });
  afterEach(async () => {
    await engine.closeEngine();
    await folder.remove();
  });

  const open = (differing: Partial<StorageQuotaOptions> = {}) =>
    StorageQuotaLimiter.openStorageQuota({
      documentStore: engine.documentStore,
      storageBytes: (workspaceId) => Promise.resolve(workspaceId === WORKSPACE ? counted : 0),
      isCounted: () => Promise.resolve(isCounted),
      limitBytes: 100,
      clock: () => new Date(now),
      logger: silentLogger,
      isSoleProcess: false,
      ...differing,
    });
  const reserve = (quota: StorageQuotaLimiter, bytes: number) => quota.reserveStorageBytes(WORKSPACE, bytes, HOUR_MS);

  it('is not exceeded by parallel reservations of several processes', async () => {
    const quotas = await Promise.all([open(), open(), open()]);
    const attempts = quotas.flatMap((quota) => Array.from({ length: 20 }, () => reserve(quota, 10)));
    const outcomes = await Promise.allSettled(attempts);
    const granted = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(granted).toBeGreaterThan(0);
    expect(granted).toBeLessThanOrEqual(10);
    expect(await quotas[0]?.readStorageUsage(WORKSPACE)).toEqual({ used_bytes: 0, limit_bytes: 100 });
  });

  it('is used completely by parallel reservations of one process', async () => {
    const quota = await open();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => reserve(quota, 10)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await expect(quota.reserveStorageBytes('ws_2', 100, HOUR_MS)).resolves.toBeDefined();
  });

  it('refuses with the used, allowed and needed bytes, and reserves nothing then', async () => {
    const quota = await open();
    counted = 70;
    const held = await reserve(quota, 20);
    const error = await reserve(quota, 11).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StorageQuotaExceededError);
    expect(error).toMatchObject({ usedBytes: 90, limitBytes: 100, neededBytes: 11 });
    await expect(held.changeReservedBytes(31)).rejects.toThrow(StorageQuotaExceededError);
    await expect(reserve(quota, 30)).resolves.toBeDefined();
  });

  /** Returns the document store of the engine, whose upserts are made by `step`. */
  const withUpsert = (step: (upsert: () => Promise<boolean>) => Promise<boolean>): DocumentStore => ({
    ...engine.documentStore,
    collection: async <T extends Document>(spec: CollectionSpec): Promise<Collection<T>> => {
      const collection = await engine.documentStore.collection<T>(spec);
      const upsert: Collection<T>['upsert'] = (document, guard) => step(() => collection.upsert(document, guard));
      return new Proxy(collection, {
        get: (target, name) => {
          const member: unknown = name === 'upsert' ? upsert : Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    },
  });

  it('reserves nothing if a change of the reservation could not be stored', async () => {
    let fails = false;
    const documentStore = withUpsert((upsert) => (fails ? Promise.reject(new BusyError('engine', 'queue')) : upsert()));
    const quota = await open({ documentStore });
    const held = await reserve(quota, 60);
    fails = true;
    await expect(held.changeReservedBytes(70)).rejects.toThrow(BusyError);
    fails = false;
    await expect(reserve(quota, 100)).resolves.toBeDefined();
  });

  it('reserves nothing for an upload of a pending document if the outcome of the reservation is unknown', async () => {
    let fails = true;
    const documentStore = withUpsert(async (upsert) => {
      const isWritten = await upsert();
      if (fails) throw new UnavailableError('engine', 'silent');
      return isWritten;
    });
    const quota = await open({ documentStore });
    counted = 100;
    const copy = () => quota.reserveBytesOfPendingUpload(WORKSPACE, 'doc_1', 100, HOUR_MS);
    await expect(copy()).rejects.toThrow(UnavailableError);
    fails = false;
    await expect(copy()).resolves.toBeDefined();
    await expect(copy()).rejects.toThrow(StorageQuotaExceededError);
  });

  it('refuses a reservation that waits too long for another of the workspace, and reserves nothing then', async () => {
    const held = Promise.withResolvers<void>();
    let isSlow = false;
    const documentStore = withUpsert(async (upsert) => {
      if (isSlow) await held.promise;
      return upsert();
    });
    const quota = await open({ documentStore, maxWaitMs: 20 });
    const waiting = await reserve(quota, 50);
    isSlow = true;
    const slow = reserve(quota, 10);
    await expect(waiting.changeReservedBytes(60)).rejects.toThrow(BusyError);
    held.resolve();
    await slow;
    await expect(reserve(quota, 90)).resolves.toBeDefined();
  });

  it('counts a reservation until the read model counts its document', async () => {
    const quota = await open();
    isCounted = false;
    await (await reserve(quota, 60)).runAndReleaseReservation(() => Promise.resolve({ position: '1' }));
    await expect(reserve(quota, 60)).rejects.toThrow(StorageQuotaExceededError);
    isCounted = true;
    await (await reserve(quota, 40)).runAndReleaseReservation(() => Promise.resolve({ position: '2' }));
    await eventually(async () => (await reserve(quota, 40)).deleteStorageReservation());
  });

  it('counts a reservation after an unknown outcome, but not after a failed command', async () => {
    const quota = await open();
    const spend = async (error: Error) =>
      (await reserve(quota, 60)).runAndReleaseReservation(() => Promise.reject(error));
    await expect(spend(new BusyError('engine', 'queue'))).rejects.toThrow(BusyError);
    await expect(spend(new UnavailableError('engine', 'silent'))).rejects.toThrow(UnavailableError);
    await expect(reserve(quota, 60)).rejects.toThrow(StorageQuotaExceededError);
  });

  it('forgets the reservations of a killed process: at the start if it is alone, otherwise when they expire', async () => {
    await reserve(await open(), 100);
    const other = await open();
    await expect(reserve(other, 1)).rejects.toThrow(StorageQuotaExceededError);
    now += HOUR_MS;
    await reserve(other, 100);
    await expect(reserve(await open({ isSoleProcess: true }), 100)).resolves.toBeDefined();
  });

  it('reserves bytes only for further uploads of a pending document at the same time', async () => {
    const quota = await open();
    counted = 100;
    const copy = () => quota.reserveBytesOfPendingUpload(WORKSPACE, 'doc_1', 100, HOUR_MS);
    const first = await copy();
    await expect(copy()).rejects.toThrow(StorageQuotaExceededError);
    await first.deleteStorageReservation();
    await copy();
    now += HOUR_MS;
    await expect(copy()).resolves.toBeDefined();
  });

  it('keeps the reservation of a later upload when an upload ends after its own reservation expired', async () => {
    const quota = await open();
    counted = 100;
    const copy = () => quota.reserveBytesOfPendingUpload(WORKSPACE, 'doc_1', 100, HOUR_MS);
    const late = await copy();
    now += HOUR_MS;
    await copy();
    await late.deleteStorageReservation();
    await expect(copy()).rejects.toThrow(StorageQuotaExceededError);
  });
});
