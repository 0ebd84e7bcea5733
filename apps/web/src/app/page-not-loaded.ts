/** The service cannot be reached for the code of a page. */
export class PageNotLoaded extends Error {
  constructor(cause: unknown) {
    super('The page was not loaded.', { cause });
  }
}
