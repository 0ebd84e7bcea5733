import { Unavailable } from '@tracking/ports';

/** A wrong or missing setting. Its message is the one line that an operator sees. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * What the machine refuses because of a setting (a port in use, a folder that may not be written) as a fault of that
 * setting; everything else passes as it is.
 * @param setting its name, and its value where the refusal does not show it
 * @throws ConfigError
 */
export async function blaming<T>(setting: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    const isRefusal = syscall !== undefined || error instanceof Unavailable;
    throw isRefusal ? new ConfigError(`${setting}: ${message}`, { cause: error }) : error;
  }
}
