import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Api, ApiTestRequest } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

interface ResponseCheckedForSecrets {
  /** Method, path and status of the call. */
  readonly where: string;
  readonly content: string;
  readonly isError: boolean;
}

/** Records all secrets in requests and responses, and finds responses that contain one by mistake. */
export class SecretLeakDetector {
  private readonly secrets = new Map<string, string>();
  private readonly responses: ResponseCheckedForSecrets[] = [];

  /** Registers a secret that no later response may contain. @param name name of the secret in reports */
  forbidSecretInResponses(name: string, secret: string): string {
    if (secret.length < 8) throw new Error(`${name} is too short for a reliable search`);
    this.secrets.set(name, secret);
    return secret;
  }

  /**
   * Returns a function that calls the server and records each response. No response may contain a secret, except that a
   * successful one may contain the secret named `shown`.
   */
  createSecretCheckingCaller(call: Api['call']) {
    return async (method: string, path: string, sent: ApiTestRequest = {}, shown?: string): Promise<ApiResponse> => {
      const answer = await call(method, path, sent);
      if (shown !== undefined && answer.status < 300)
        this.forbidSecretInResponses(shown, extractSecretFromApiResponse(answer));
      const own = shown === undefined ? undefined : this.secrets.get(shown);
      const whole = `${answer.text}\n${JSON.stringify([...answer.headers])}`;
      const device = /device=([^;]+)/.exec(answer.headers.getSetCookie().join())?.[1];
      if (device !== undefined) this.forbidSecretInResponses('the cookie of a known device', device);
      const content = [own, device].reduce<string>((text, each) => (each ? text.replaceAll(each, '') : text), whole);
      this.responses.push({ where: `${method} ${path}: ${answer.status}`, content, isError: answer.status >= 400 });
      return answer;
    };
  }

  /** Number of error responses. */
  get errorCount(): number {
    return this.responses.filter(({ isError }) => isError).length;
  }

  /** Returns the secrets in responses that must not contain them. */
  findLeakedSecrets(): readonly string[] {
    return this.responses.flatMap(({ where, content }) =>
      this.listSecretsInText(content).map((name) => `${name} in ${where}`),
    );
  }

  /** Returns the names of the secrets that a text contains, either plain or encoded for JSON or a URL. */
  listSecretsInText(text: string): readonly string[] {
    const forms = (secret: string) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    return [...this.secrets]
      .filter(([, secret]) => forms(secret).some((form) => text.includes(form)))
      .map(([name]) => name);
  }
}

/** Returns the secret in a response: a session, a key, a signing secret, or the token of a link. */
export function extractSecretFromApiResponse({ body, headers }: ApiResponse): string {
  const session = /session=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1];
  const { key, secret, invitation_url, reset_url } = body as Readonly<Record<string, string | undefined>>;
  const found = session ?? key ?? secret ?? (invitation_url ?? reset_url)?.split('#')[1];
  if (found === undefined) throw new Error(`the response contains no secret: ${JSON.stringify(body)}`);
  return found;
}

/** Reads all files of a folder, as one text. */
export async function readFilesAsText(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
  return (await Promise.all(contents)).join('\n');
}
