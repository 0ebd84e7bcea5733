import fc from 'fast-check';
import type { FuzzedOpenApiDescription } from './description.ts';

const PATH_PARAMETER_PATTERN = /\{[^}]+\}/g;
/**
 * Maximum number of known values per kind. The newest values are kept, because older resources are often deleted or in
 * a final state.
 */
const MAX_KNOWN_VALUES_PER_KIND = 12;
const KNOWN_RESOURCE_PLACEHOLDER_PATTERN = /known-([a-z_-]*)-(\d+)-/g;

/**
 * Generates a placeholder for an id, cursor or token from an earlier response. The placeholder is replaced when the
 * request is sent, so the generated request depends only on its seed.
 * @param name name of the field, parameter or header
 */
export function generateEarlierResponseValuePlaceholder(name: string): fc.Arbitrary<string> {
  return fc.nat(1_000).map((which) => `known-${name.toLowerCase()}-${which}-`);
}

/** Existing resources, collected from responses, so that later requests address them. */
export class KnownResources {
  /** Known paths by path template. */
  private readonly paths = new Map<string, string[]>();
  private readonly patterns: ReadonlyMap<string, RegExp>;
  private readonly texts = new Map<string, string[]>();

  constructor(description: FuzzedOpenApiDescription) {
    const paths = [...description.operations.values()].map(({ path }) => path);
    this.patterns = new Map(
      [...paths, ...paths.flatMap(listPathTemplatesOfItems)].map((path) => [path, toPathPattern(path)]),
    );
  }

  /** Returns the paths of known resources for a path template of the OpenAPI description. */
  listKnownPathsOfTemplate(template: string): readonly string[] {
    const item = listPathTemplatesOfItems(template).at(-1) ?? template;
    const reached = (this.paths.get(item) ?? []).map((path) => path + template.slice(item.length));
    return item === template ? reached : [...reached, ...(this.paths.get(template) ?? [])];
  }

  /** Replaces each placeholder with a known value. */
  fillPlaceholders(text: string): string {
    return text.replace(KNOWN_RESOURCE_PLACEHOLDER_PATTERN, (_, name: string, which: string) => {
      const found = this.listKnownValuesForPlaceholderName(name);
      return found[Number(which) % found.length] ?? 'none';
    });
  }

  /** Records the resources in a response: its path, the items of a list, and nested lists. */
  recordResourcesOfResponse(asked: string, headers: Readonly<Record<string, unknown>>, body: unknown): void {
    const location = headers['location'];
    const path = typeof location === 'string' ? removeUrlOrigin(location) : asked.replace(/\?.*$/, '');
    this.rememberUrlPathForFuzzTest(path);
    this.rememberKnownText('consistency-token', headers['consistency-token']);
    this.rememberKnownText('if-match', headers['etag']);
    if (!isJsonObject(body)) return;
    this.rememberKnownText('cursor', body['next_cursor']);
    const user = body['user'] ?? body;
    if (isJsonObject(user)) this.rememberKnownText('email', user['email']);
    for (const id of extractUrlEncodedResourceIds(body['data'])) this.rememberUrlPathForFuzzTest(`${path}/${id}`);
    for (const [name, list] of Object.entries(body))
      for (const id of extractUrlEncodedResourceIds(list)) this.rememberUrlPathForFuzzTest(`${path}/${name}/${id}`);
    const link = body['invitation_url'] ?? body['reset_url'];
    if (typeof link === 'string') this.rememberUrlPathForFuzzTest(`/v1/invitations/${link.replace(/^.*#/, '')}`);
    const upload = body['upload'];
    if (isJsonObject(upload) && typeof upload['url'] === 'string')
      this.rememberUrlPathForFuzzTest(removeUrlOrigin(upload['url']));
  }

  /** @param name name of the field, parameter or header */
  rememberKnownText(name: string, text: unknown): void {
    if (typeof text === 'string') addKnownValueAndDropOldest(this.texts, name, text);
  }

  private rememberUrlPathForFuzzTest(path: string): void {
    const [plain = path] = path.split('?');
    for (const [template, pattern] of this.patterns)
      if (pattern.test(plain)) addKnownValueAndDropOldest(this.paths, template, path);
  }

  /** Returns known values for the name, or ids of all kinds if there are none. */
  private listKnownValuesForPlaceholderName(name: string): readonly string[] {
    const texts = this.texts.get(name);
    if (texts) return texts;
    const kind = name.replace(/_id$/, '');
    const suiting = [...this.paths].filter(([template]) => isPathTemplateOfResource(template, kind));
    return (suiting.length === 0 ? [...this.paths] : suiting).flatMap(([template, paths]) =>
      template.endsWith('}') ? paths.map((path) => path.slice(path.lastIndexOf('/') + 1)) : [],
    );
  }
}

/**
 * Returns true if the path template addresses the kind of resource: `/v1/webhook_endpoints/{id}` addresses an
 * `endpoint`.
 */
function isPathTemplateOfResource(template: string, kind: string): boolean {
  const [one] = /[a-z_]+(?=s\/\{\w+\}$)/.exec(template) ?? [];
  return one !== undefined && kind !== '' && (one.endsWith(kind) || kind.endsWith(one));
}

/** Returns the templates of all items in a path: for `/a/{b}/c/{d}/e`, these are `/a/{b}` and `/a/{b}/c/{d}`. */
function listPathTemplatesOfItems(path: string): readonly string[] {
  return [...path.matchAll(PATH_PARAMETER_PATTERN)].map((found) => path.slice(0, found.index + found[0].length));
}

function toPathPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replace(PATH_PARAMETER_PATTERN, '[^/]+')}$`);
}

function removeUrlOrigin(address: string): string {
  return address.replace(/^https?:\/\/[^/]+/, '');
}

function addKnownValueAndDropOldest(kept: Map<string, string[]>, name: string, text: string): void {
  const others = (kept.get(name) ?? []).filter((other) => other !== text);
  kept.set(name, [...others, text].slice(-MAX_KNOWN_VALUES_PER_KIND));
}

function extractUrlEncodedResourceIds(list: unknown): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    const id = isJsonObject(item) ? (item['id'] ?? item['number']) : undefined;
    return typeof id === 'string' ? [encodeURIComponent(id)] : [];
  });
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
