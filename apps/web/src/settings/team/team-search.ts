export interface TeamSearch {
  /** Part of a name or e-mail. */
  readonly q?: string | undefined;
  /** Those who were removed too. */
  readonly removed?: boolean | undefined;
}

export function readTeamSearch({ q, removed }: Record<string, unknown>): TeamSearch {
  const text = typeof q === 'number' ? String(q) : q;
  return {
    ...(typeof text === 'string' && text !== '' && { q: text }),
    ...(removed === true && { removed }),
  };
}
