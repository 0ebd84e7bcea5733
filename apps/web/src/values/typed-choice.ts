/** An entry of a list of choices. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The choice that a typed text means: the one called so, or the only one whose label contains it; undefined for none. */
export function choiceOf(text: string, choices: readonly Choice[]): Choice | undefined {
  const words = text.trim().toLowerCase();
  if (words === '') return undefined;
  const exact = choices.find(({ label }) => label.toLowerCase() === words);
  const matching = choices.filter(({ label }) => label.toLowerCase().includes(words));
  return exact ?? (matching.length === 1 ? matching[0] : undefined);
}
