/** Samples the read models' lag while something runs; answers the greatest, in seconds. */
export async function greatestLag(
  processes: readonly { readonly managementUrl: string }[],
  work: Promise<unknown>,
): Promise<number> {
  let greatest = 0;
  let done = false;
  void work.finally(() => (done = true)).catch(() => undefined);
  while (!done) {
    for (const { managementUrl } of processes) {
      const text = await (await fetch(`${managementUrl}/metrics`)).text();
      for (const match of text.matchAll(/^read_model_lag_seconds\{[^}]*\} (\S+)$/gm)) {
        greatest = Math.max(greatest, Number(match[1]));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  return greatest;
}
