import fc from 'fast-check';
import type { Description } from './description.ts';

const PARAMETER = /\{[^}]+\}/g;
/** Of each kind, the last that were told of: earlier ones are gone, or in a state in which little can be done. */
const MOST_KEPT = 12;
const PLACEHOLDER = /known-([a-z_-]*)-(\d+)-/g;

/**
 * Stands for an id, cursor or token that an answer told before. What it is turns out when the request is sent: what is
 * drawn depends on its seed alone.
 * @param name of the field, parameter or header that it is for
 */
export function knownOf(name: string): fc.Arbitrary<string> {
  return fc.nat(1_000).map((which) => `known-${name.toLowerCase()}-${which}-`);
}

/** What there is, as answers tell it, so that requests reach it. */
export class KnownThings {
  /** Paths by that of the description which ends with their parameter, or which they were given for. */
  private readonly paths = new Map<string, string[]>();
  private readonly patterns: ReadonlyMap<string, RegExp>;
  private readonly texts = new Map<string, string[]>();

  constructor(description: Description) {
    const paths = [...description.operations.values()].map(({ path }) => path);
    this.patterns = new Map([...paths, ...paths.flatMap(itemsOf)].map((path) => [path, patternOf(path)]));
  }

  /** Paths by which one gets to where the path of the description leads. */
  pathsOf(template: string): readonly string[] {
    const item = itemsOf(template).at(-1) ?? template;
    const reached = (this.paths.get(item) ?? []).map((path) => path + template.slice(item.length));
    return item === template ? reached : [...reached, ...(this.paths.get(template) ?? [])];
  }

  /** With the things in the place of what stands for them. */
  filledIn(text: string): string {
    return text.replace(PLACEHOLDER, (_, name: string, which: string) => {
      const found = this.textsOf(name);
      return found[Number(which) % found.length] ?? 'none';
    });
  }

  /** Notes what an answer tells: where a thing is, those on a page, and those within it. */
  learn(asked: string, headers: Readonly<Record<string, unknown>>, body: unknown): void {
    const location = headers['location'];
    const path = typeof location === 'string' ? pathOf(location) : asked.replace(/\?.*$/, '');
    this.notePath(path);
    this.noteText('consistency-token', headers['consistency-token']);
    this.noteText('if-match', headers['etag']);
    if (!isObject(body)) return;
    this.noteText('cursor', body['next_cursor']);
    const user = body['user'] ?? body;
    if (isObject(user)) this.noteText('email', user['email']);
    for (const id of idsIn(body['data'])) this.notePath(`${path}/${id}`);
    for (const [name, list] of Object.entries(body))
      for (const id of idsIn(list)) this.notePath(`${path}/${name}/${id}`);
    const link = body['invitation_url'] ?? body['reset_url'];
    if (typeof link === 'string') this.notePath(`/v1/invitations/${link.replace(/^.*#/, '')}`);
    const upload = body['upload'];
    if (isObject(upload) && typeof upload['url'] === 'string') this.notePath(pathOf(upload['url']));
  }

  /** @param name as in {@link knownOf} */
  noteText(name: string, text: unknown): void {
    if (typeof text === 'string') note(this.texts, name, text);
  }

  private notePath(path: string): void {
    const [plain = path] = path.split('?');
    for (const [template, pattern] of this.patterns) if (pattern.test(plain)) note(this.paths, template, path);
  }

  /** What suits the name; ids of all kinds, where nothing does. */
  private textsOf(name: string): readonly string[] {
    const texts = this.texts.get(name);
    if (texts) return texts;
    const kind = name.replace(/_id$/, '');
    const suiting = [...this.paths].filter(([template]) => isFor(template, kind));
    return (suiting.length === 0 ? [...this.paths] : suiting).flatMap(([template, paths]) =>
      template.endsWith('}') ? paths.map((path) => path.slice(path.lastIndexOf('/') + 1)) : [],
    );
  }
}

/** `/v1/webhook_endpoints/{id}` is for `endpoint`. */
function isFor(template: string, kind: string): boolean {
  const [one] = /[a-z_]+(?=s\/\{\w+\}$)/.exec(template) ?? [];
  return one !== undefined && kind !== '' && (one.endsWith(kind) || kind.endsWith(one));
}

/** `/a/{b}/c/{d}/e` → `/a/{b}`, `/a/{b}/c/{d}`. */
function itemsOf(path: string): readonly string[] {
  return [...path.matchAll(PARAMETER)].map((found) => path.slice(0, found.index + found[0].length));
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replace(PARAMETER, '[^/]+')}$`);
}

function pathOf(address: string): string {
  return address.replace(/^https?:\/\/[^/]+/, '');
}

function note(kept: Map<string, string[]>, name: string, text: string): void {
  const others = (kept.get(name) ?? []).filter((other) => other !== text);
  kept.set(name, [...others, text].slice(-MOST_KEPT));
}

function idsIn(list: unknown): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    const id = isObject(item) ? (item['id'] ?? item['number']) : undefined;
    return typeof id === 'string' ? [encodeURIComponent(id)] : [];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
