export interface AccountSearch {
  /** The one whose keys are shown. */
  readonly account?: string | undefined;
}

export function readAccountSearch({ account }: Record<string, unknown>): AccountSearch {
  return typeof account === 'string' && account !== '' ? { account } : {};
}
