import { createInterface } from 'node:readline';

/** What may be typed while something runs, by its first word; given the second one. */
export type TypedCommands = ReadonlyMap<string, (argument: string | undefined) => Promise<void>>;

/**
 * Carries out what is typed, line by line in its order, until the input or `signal` ends it.
 * @param told told what is wrong with a line
 */
export async function obey(
  input: NodeJS.ReadableStream,
  commands: TypedCommands,
  signal: AbortSignal,
  told: (message: string) => void,
): Promise<void> {
  const lines = createInterface({ input, terminal: false });
  const failed = ({ message }: Error) => {
    // What is given up with everything else is no news.
    if (!signal.aborted) told(message);
  };
  const close = () => lines.close();
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const line of lines) {
      const [name = '', argument] = line.trim().split(/\s+/);
      const command = commands.get(name);
      if (command) await command(argument).catch(failed);
      else if (name !== '') told(`no such command: ${name}; there are ${[...commands.keys()].join(', ')}`);
    }
  } finally {
    signal.removeEventListener('abort', close);
  }
}
