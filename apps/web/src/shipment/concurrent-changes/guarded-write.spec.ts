import { ConflictError } from '@tracking/client';
import { ResourceChangedError, type VersionedResource, writeIfResourceUnchangedOrThrow } from './guarded-write.ts';

interface Thing {
  readonly status: string;
}
const refusal = (code: 'precondition_failed' | 'document_reviewed') =>
  new ConflictError({
    status: code === 'precondition_failed' ? 412 : 409,
    headers: {},
    error: { type: 'conflict', code },
  });
const isSame = (one: Thing, other: Thing) => one.status === other.status;
const SEEN: VersionedResource<Thing> = { thing: { status: 'uploaded' }, version: 3 };

/** Returns a service that holds the resource, and the current version of its shipment. */
function service(thing: Thing, version: number) {
  const tags: string[] = [];
  const write = (tag: string) => {
    tags.push(tag);
    return tag === `"${version}"` ? Promise.resolve('written') : Promise.reject(refusal('precondition_failed'));
  };
  return { tags, parts: { write, read: () => Promise.resolve({ thing, version }), isSame } };
}

it('writes with the version that the user has seen', async () => {
  const { parts, tags } = service(SEEN.thing, 3);
  await expect(writeIfResourceUnchangedOrThrow(SEEN, parts)).resolves.toBe('written');
  expect(tags).toEqual(['"3"']);
});

it('writes with the current version if only other parts of the shipment have changed', async () => {
  const { parts, tags } = service(SEEN.thing, 9);
  await expect(writeIfResourceUnchangedOrThrow(SEEN, parts)).resolves.toBe('written');
  expect(tags).toEqual(['"3"', '"9"']);
});

it('writes nothing if the resource itself changed, and reports both states', async () => {
  const { parts, tags } = service({ status: 'rejected' }, 4);
  const refused = await writeIfResourceUnchangedOrThrow(SEEN, parts).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ResourceChangedError);
  expect(refused).toMatchObject({ seen: SEEN, now: { thing: { status: 'rejected' }, version: 4 } });
  expect(tags).toEqual(['"3"']);
});

it('reports a changed resource even if the service refuses the write for another reason', async () => {
  const parts = {
    ...service({ status: 'rejected' }, 4).parts,
    write: () => Promise.reject(refusal('document_reviewed')),
  };
  await expect(writeIfResourceUnchangedOrThrow(SEEN, parts)).rejects.toBeInstanceOf(ResourceChangedError);
});

it('throws the error of the service if the resource has not changed', async () => {
  const refused = refusal('document_reviewed');
  const parts = { ...service(SEEN.thing, 4).parts, write: () => Promise.reject(refused) };
  await expect(writeIfResourceUnchangedOrThrow(SEEN, parts)).rejects.toBe(refused);
});

it('stops after several attempts if the shipment changes before each one, and throws all other errors', async () => {
  let version = 3;
  const chased = {
    write: () => Promise.reject(refusal('precondition_failed')),
    read: () => Promise.resolve({ thing: SEEN.thing, version: (version += 1) }),
    isSame,
  };
  await expect(writeIfResourceUnchangedOrThrow(SEEN, chased)).rejects.toMatchObject({ code: 'precondition_failed' });
  expect(version).toBeLessThan(20);
  const broken = { ...chased, write: () => Promise.reject(new Error('broken')) };
  await expect(writeIfResourceUnchangedOrThrow(SEEN, broken)).rejects.toThrow('broken');
});
