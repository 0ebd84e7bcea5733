import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRoutesInOpenApi, MISSING_EXAMPLE_PLACEHOLDER } from '@tracking/http';
import { TESTED_HTTP_MODULES } from './features.ts';

const FILE = join(import.meta.dirname, '../../../../docs/openapi.json');

it('the file matches the code; update it with `npm run openapi`', async () => {
  const described = await describeRoutesInOpenApi('http://localhost:3000', TESTED_HTTP_MODULES);
  expect(await readFile(FILE, 'utf8')).toBe(`${JSON.stringify(described, null, 1)}\n`);
});

it('is below 500 kB, with one schema for all errors and no schema without content', async () => {
  const described = await describeRoutesInOpenApi('http://localhost:3000', TESTED_HTTP_MODULES);
  const text = JSON.stringify(described);
  expect(Buffer.byteLength(text)).toBeLessThan(500_000);
  expect(text.includes('"schema":{}')).toBe(false);
  const schemas = Object.keys(described.components?.schemas ?? {});
  expect(schemas.filter((name) => /^(?:Error|Exception|Session|EventType|Object|String|Date)$/.test(name))).toEqual([]);
  const errors = Object.entries(described.components?.responses ?? {}) as [string, DescribedResponse][];
  expect(errors.length).toBeGreaterThan(5);
  for (const [name, { content }] of errors) {
    const [type, schema] =
      name === 'ProblemDetails' ? ['application/problem+json', 'Problem'] : ['application/json', 'ErrorResponse'];
    expect([name, content]).toEqual([
      name,
      { [type]: expect.objectContaining({ schema: { $ref: `#/components/schemas/${schema}` } }) },
    ]);
  }
});

it('every field of an example has a value: of its schema, a sample or by its name', async () => {
  const text = JSON.stringify(await describeRoutesInOpenApi('http://localhost:3000', TESTED_HTTP_MODULES));
  const untold = [...text.matchAll(new RegExp(`"(\\w+)":"${MISSING_EXAMPLE_PLACEHOLDER}"`, 'g'))].map(
    ([, name]) => name,
  );
  expect([...new Set(untold)]).toEqual([]);
});

it('every described form of an error has examples', async () => {
  const text = JSON.stringify(await describeRoutesInOpenApi('http://localhost:3000', TESTED_HTTP_MODULES));
  expect(text).toContain('"application/problem+json":{');
  const withoutExamples = [
    ...text.matchAll(/"application\/problem\+json":\{"schema":\{[^{}]*\}(,"examples?":)?/g),
  ].filter(([, examples]) => examples === undefined);
  expect(withoutExamples.map(([found]) => found)).toEqual([]);
});

it('no optional parameter has an example, because documentation pages and API clients would send it', async () => {
  const { paths, components } = await describeRoutesInOpenApi('http://localhost:3000', TESTED_HTTP_MODULES);
  const own = Object.values(paths).flatMap((operations) =>
    Object.values(operations as Readonly<Record<string, { readonly parameters?: readonly unknown[] }>>).flatMap(
      ({ parameters = [] }) => parameters,
    ),
  );
  const all = [...own, ...Object.values(components?.parameters ?? {})] as readonly DescribedParameter[];
  const optional = all.filter(({ $ref, required }) => $ref === undefined && required !== true);
  expect(optional.length).toBeGreaterThan(40);
  const filledIn = optional.filter(({ example, examples, schema }) =>
    [example, examples, schema?.example, schema?.examples, schema?.items?.example].some((each) => each !== undefined),
  );
  expect(filledIn.map(({ name }) => name)).toEqual([]);
  const defaults = optional.filter(({ schema }) => schema?.default !== undefined).map(({ name }) => name);
  expect([...new Set(defaults)]).toEqual(['limit']);
});

interface DescribedResponse {
  readonly content?: Readonly<Record<string, { readonly schema: unknown }>>;
}

interface DescribedExamples {
  readonly example?: unknown;
  readonly examples?: unknown;
}

interface DescribedParameter extends DescribedExamples {
  readonly $ref?: string;
  readonly name?: string;
  readonly required?: boolean;
  readonly schema?: DescribedExamples & { readonly default?: unknown; readonly items?: DescribedExamples };
}
