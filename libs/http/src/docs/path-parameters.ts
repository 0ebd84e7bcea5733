import type { ApiDocs } from './api-docs.ts';
import type { Described, OperationObject } from './described.ts';

/** Tells of every parameter of a path what it is, with a value; what an operation says itself stays. */
export function describePathParameters(
  { id, path, operation }: Described,
  { resources, pathParameters }: ApiDocs,
): void {
  const collection = path.split('/')[2] ?? '';
  for (const parameter of ofPath(operation)) {
    const [noun, example] = resources[collection] ?? [];
    const known =
      parameter.name === 'id' && noun
        ? [`Id of the ${noun}, \`${example?.slice(0, 4)}…\`.`, example]
        : pathParameters[parameter.name];
    if (!known) throw new Error(`${id}: nothing is known of {${parameter.name}}`);
    parameter.description ??= known[0] ?? '';
    parameter.example ??= known[1];
  }
}

function ofPath({ parameters = [] }: OperationObject) {
  return parameters.flatMap((parameter) => ('in' in parameter && parameter.in === 'path' ? [parameter] : []));
}
