import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Api, ApiCall } from './start-api.ts';
import type { Answer } from './described-answers.ts';

interface Told {
  /** Which call it was. */
  readonly where: string;
  readonly content: string;
  readonly isError: boolean;
}

/** Notes every secret that goes to and fro, and every place in which one must not stand. */
export class KeptSecrets {
  private readonly secrets = new Map<string, string>();
  private readonly told: Told[] = [];

  /** Of it nothing may be told any more. @param name what is reported in its place */
  keep(name: string, secret: string): string {
    if (secret.length < 8) throw new Error(`${name} is too short to be found`);
    this.secrets.set(name, secret);
    return secret;
  }

  /**
   * Makes calls of a server whose answers must tell no secret, or only the one named `shown`, which one that succeeds
   * brings.
   */
  sender(call: Api['call']) {
    return async (method: string, path: string, sent: ApiCall = {}, shown?: string): Promise<Answer> => {
      const answer = await call(method, path, sent);
      if (shown !== undefined && answer.status < 300) this.keep(shown, secretIn(answer));
      const own = shown === undefined ? undefined : this.secrets.get(shown);
      const whole = `${answer.text}\n${JSON.stringify([...answer.headers])}`;
      const content = own === undefined ? whole : whole.replaceAll(own, '');
      this.told.push({ where: `${method} ${path}: ${answer.status}`, content, isError: answer.status >= 400 });
      return answer;
    };
  }

  /** What was answered with an error. */
  get errors(): number {
    return this.told.filter(({ isError }) => isError).length;
  }

  /** The secrets that stand in answers where they have no business. */
  inAnswers(): readonly string[] {
    return this.told.flatMap(({ where, content }) => this.in(content).map((name) => `${name} in ${where}`));
  }

  /** The names of those in a text, as they are or as they stand in JSON or a URL. */
  in(text: string): readonly string[] {
    const forms = (secret: string) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    return [...this.secrets]
      .filter(([, secret]) => forms(secret).some((form) => text.includes(form)))
      .map(([name]) => name);
  }
}

/** The one that an answer shows: a session, a key, a signing secret, or the token of a link. */
export function secretIn({ body, headers }: Answer): string {
  const session = /session=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1];
  const { key, secret, invitation_url, reset_url } = body as Readonly<Record<string, string | undefined>>;
  const found = session ?? key ?? secret ?? (invitation_url ?? reset_url)?.split('#')[1];
  if (found === undefined) throw new Error(`shows no secret: ${JSON.stringify(body)}`);
  return found;
}

/** Every byte in the files of a folder. */
export async function bytesIn(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
  return (await Promise.all(contents)).join('\n');
}
