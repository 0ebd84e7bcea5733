import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@tracking/contracts';
import type { Answer, Api, ApiCall } from './start-api.ts';

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

  constructor(private readonly call: Api['call']) {}

  /** Of it nothing may be told any more. @param name what is reported in its place */
  keep(name: string, secret: string): string {
    if (secret.length < 8) throw new Error(`${name} is too short to be found`);
    this.secrets.set(name, secret);
    return secret;
  }

  /** Makes a call of which an answer must tell no secret, or only the one of this name, where it succeeds. */
  async send(method: string, path: string, call: ApiCall = {}, shown?: string): Promise<Answer> {
    const answer = await this.call(method, path, call);
    if (shown !== undefined && answer.status < 300) this.keep(shown, secretIn(answer));
    const content = `${answer.text}\n${JSON.stringify([...answer.headers])}`;
    const isAllowed = (secret: string) => shown !== undefined && this.secrets.get(shown) === secret;
    const others = [...this.secrets.values()]
      .filter(isAllowed)
      .reduce((text, own) => text.replaceAll(own, ''), content);
    this.told.push({ where: `${method} ${path}: ${answer.status}`, content: others, isError: answer.status >= 400 });
    return answer;
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

/** The one that an answer shows. */
function secretIn({ body }: Answer): string {
  const { key, secret } = body as JsonObject & { readonly key?: string; readonly secret?: string };
  const found = key ?? secret;
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
