/** Folder of the Python package. */
export const PYTHON_CLIENT: string;

type Method =
  string | Readonly<{ operation: string; field?: string; whole?: boolean; by?: string; ends_own_session?: boolean }>;

/** Content of each generated file of the Python client, by its path in the package. */
export function pythonClient(
  description: object,
  methods: Readonly<Record<string, Readonly<Record<string, Method>>>>,
): Promise<Readonly<Record<string, string>>>;

export function toSynchronous(text: string): string;
