import { Inject, Injectable } from '@nestjs/common';
import type { Actor } from '@tracking/contracts';
import { RecentLookUps } from '@tracking/resilience';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { IDENTITY } from '../dependencies.ts';

/** What the platform itself is called where it acts. */
const SYSTEM = 'System';

/** What actors are called now; each is looked up once in a few seconds, however many entries name it. */
@Injectable()
export class ActorNames {
  private readonly recent = new RecentLookUps<string | null>();

  constructor(@Inject(IDENTITY) private readonly identity: Pick<ShipmentsHttpDependencies['identity'], 'namesOf'>) {}

  /** By id; null for whoever has no name, or is not known. @throws Unavailable */
  async of(actors: readonly Actor[]): Promise<ReadonlyMap<string, string | null>> {
    const distinct = new Map(actors.map((actor) => [actor.id, actor]));
    const named = [...distinct.values()].map(async (actor) => [actor.id, await this.nameOf(actor)] as const);
    return new Map(await Promise.all(named));
  }

  private async nameOf(actor: Actor): Promise<string | null> {
    if (actor.type === 'system') return SYSTEM;
    const found = await this.recent.find(actor.id, async () => (await this.identity.namesOf([actor])).get(actor.id));
    return found ?? null;
  }
}
