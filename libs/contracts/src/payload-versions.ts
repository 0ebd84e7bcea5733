import { API_VERSION_DESCRIPTORS, type ApiVersion, type ApiVersionDescriptor } from './api-versions.ts';
import type { PublishedEvent } from './events.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** The versions in which events are sent: docs/reference/events.md#versions. */
export class PayloadVersions {
  /** Oldest first. */
  readonly names: readonly ApiVersion[];

  /** @throws RangeError unless there are some, oldest first, of which each but the newest can be made of the next */
  constructor(private readonly descriptors: readonly ApiVersionDescriptor[]) {
    this.names = descriptors.map(({ name }) => name as ApiVersion);
    const isInOrder = this.names.every((name, index) => index === 0 || name > (this.names[index - 1] ?? ''));
    const isChain = descriptors.every(({ downgrade }, index) => (downgrade === undefined) === this.isNewest(index));
    if (descriptors.length === 0 || !isInOrder || !isChain) throw new RangeError('payload versions are no chain');
  }

  get newest(): ApiVersion {
    return this.names[this.names.length - 1] as ApiVersion;
  }

  get oldest(): ApiVersion {
    return this.names[0] as ApiVersion;
  }

  /** The version of this name, if there is one. */
  find(name: JsonValue | undefined): ApiVersion | undefined {
    return this.names.find((known) => known === name);
  }

  /**
   * In which version an event is sent to an endpoint of this version: that one, or an older one in which the event was
   * published, before there was that one.
   */
  versionFor({ api_version: made }: Pick<PublishedEvent, 'api_version'>, wanted: ApiVersion): ApiVersion {
    return this.names.indexOf(made) < this.names.indexOf(wanted) ? made : wanted;
  }

  /** `data` of the event in an older version than the one it was made in, or in that one. */
  dataIn(
    { type, api_version: made, data }: Pick<PublishedEvent, 'type' | 'api_version' | 'data'>,
    version: ApiVersion,
  ) {
    const [from, to] = [this.names.indexOf(made), this.names.indexOf(version)];
    const steps = this.descriptors.slice(to, from).reverse();
    return steps.reduce<JsonObject>((newer, { downgrade }) => downgrade?.(type, newer) ?? newer, data);
  }

  private isNewest(index: number): boolean {
    return index === this.descriptors.length - 1;
  }
}

export const PAYLOAD_VERSIONS = new PayloadVersions(API_VERSION_DESCRIPTORS);
