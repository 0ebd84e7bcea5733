import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PYTHON_CLIENT, pythonClient, toSynchronous } from '../python-client.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('the generated parts of the Python client match the description and the asynchronous client', async () => {
  const read = async (path: string) => JSON.parse(await readFile(`${root}${path}`, 'utf8'));
  const files = await pythonClient(await read('docs/openapi.json'), await read('clients/python/methods.json'));
  for (const [name, text] of Object.entries(files)) {
    const kept = await readFile(`${PYTHON_CLIENT}/${name}`, 'utf8');
    // If this fails, run `npm run client-types`.
    expect({ name, upToDate: kept === text }).toEqual({ name, upToDate: true });
  }
  const synchronous = (await readdir(`${PYTHON_CLIENT}/_sync`)).filter((name) => name.endsWith('.py'));
  expect(synchronous.map((name) => `_sync/${name}`).sort()).toEqual(
    Object.keys(files)
      .filter((name) => name.startsWith('_sync/'))
      .sort(),
  );
});

it('converts asynchronous code to code that blocks', () => {
  const text = `from anyio import sleep
from collections.abc import AsyncIterator, Awaitable, Callable

class AsyncLines:
    def __init__(self, http: httpx.AsyncClient, read: Callable[[str], Awaitable[Page[Item]]]) -> None: ...
    async def __aiter__(self) -> AsyncIterator[str]:
        async with self.open() as lines:
            yield [await self.read(line) async for line in lines]
        except StopAsyncIteration: await self.aclose()
`;
  expect(toSynchronous(text)).toBe(`from time import sleep
from collections.abc import Iterator, Callable

class Lines:
    def __init__(self, http: httpx.Client, read: Callable[[str], Page[Item]]) -> None: ...
    def __iter__(self) -> Iterator[str]:
        with self.open() as lines:
            yield [self.read(line) for line in lines]
        except StopIteration: self.close()
`);
});

it('names an operation without a method, and a method without an operation', async () => {
  const description = JSON.parse(await readFile(`${root}docs/openapi.json`, 'utf8'));
  await expect(pythonClient(description, { shipments: { get: 'getShipmint' } })).rejects.toThrow('getShipmint');
});
