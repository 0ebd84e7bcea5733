import { DomainError } from './errors.ts';

/**
 * On which versions of a resource a command insists: one of these; `any`, as long as there is one; `none`, as long as there
 * is none yet.
 */
export type ExpectedVersions = readonly number[] | 'any' | 'none';

/** The resource is not as the client insisted. Nothing was written. */
export class PreconditionFailed extends DomainError {
  /** @param version of the resource as it is; null where there is none */
  constructor(readonly version: number | null) {
    super(
      'precondition_failed',
      version === null
        ? 'There is no such resource yet, whatever If-Match names.'
        : `The resource is at version ${version}; get it, and decide again.`,
    );
  }
}

/**
 * To be asked of the very state that is about to be changed, so that nothing comes in between. Whoever knows that the
 * command was carried out already does not ask.
 * @param version of the resource; null where there is none
 * @throws PreconditionFailed
 */
export function requireVersion(version: number | null, expected: ExpectedVersions | undefined): void {
  if (!isExpected(version, expected)) throw new PreconditionFailed(version);
}

function isExpected(version: number | null, expected: ExpectedVersions | undefined): boolean {
  if (expected === undefined) return true;
  if (expected === 'none') return version === null;
  return version !== null && (expected === 'any' || expected.includes(version));
}
