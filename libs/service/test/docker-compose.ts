import { parse } from 'yaml';

/** Parts of a service in `docker-compose.yml` that the tests check. */
export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly profiles?: readonly string[];
  readonly volumes?: readonly (string | ComposeMount)[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly container_name?: string;
}

export interface ComposeMount {
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly read_only?: boolean;
  readonly bind?: { readonly create_host_path: boolean };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, object | null>>;
}

/**
 * Parses the file like Docker Compose with the given variables.
 * @throws Error with the message of `${NAME:?message}` if the variable is not set
 */
export function parseComposeFile(text: string, variables: Readonly<Record<string, string>> = {}): ComposeFile {
  return parse(interpolateComposeVariables(text, variables), { merge: true }) as ComposeFile;
}

/**
 * Replaces `${NAME}`, `${NAME:-default}`, `${NAME:+instead}` and `${NAME:?message}`, innermost first, even in comments.
 */
function interpolateComposeVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const replaced = text.replaceAll(/\$\{(\w+)(?::([-+?])([^{}]*))?\}/g, (_, name: string, kind = '', rest = '') => {
    const value = variables[name] ?? '';
    if (value === '' && kind === '?') throw new Error(`${name}: ${rest}`);
    if (kind === '+') return value && rest;
    return value || (kind === '-' ? rest : '');
  });
  return replaced === text ? text : interpolateComposeVariables(replaced, variables);
}

/**
 * Returns the environment variables of the service's container. The caller's variables provide the values of variables
 * without a value.
 */
export function readEnvironmentOfComposeService(
  service: ComposeService,
  variables: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string | undefined>> {
  const entries = Object.entries(service.environment ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? variables[name]]));
}
