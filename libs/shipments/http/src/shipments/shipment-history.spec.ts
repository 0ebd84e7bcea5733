import type { Actor } from '@tracking/contracts';
import { ActorNameFinder } from './shipment-history.ts';

const user = (id: string): Actor => ({ type: 'user', id });

describe('ActorNames', () => {
  let lookedUp: string[];
  let names: ActorNameFinder;
  beforeEach(() => {
    lookedUp = [];
    const known = new Map([
      ['usr_1', 'Ada'],
      ['usr_2', null],
    ]);
    const namesOf = (actors: readonly Actor[]) => {
      lookedUp.push(...actors.map(({ id }) => id));
      return Promise.resolve(known);
    };
    names = new ActorNameFinder({ namesOf });
  });

  it('looks each actor up once, however often it is named', async () => {
    const actors = [user('usr_1'), user('usr_2'), user('usr_1'), user('usr_9')];
    const expected = new Map([
      ['usr_1', 'Ada'],
      ['usr_2', null],
      ['usr_9', null],
    ]);
    expect(await names.readActorNames(actors)).toEqual(expected);
    expect(await names.readActorNames(actors)).toEqual(expected);
    expect(lookedUp.filter((id) => id === 'usr_1')).toHaveLength(1);
  });

  it('names the platform without a lookup', async () => {
    expect(await names.readActorNames([{ type: 'system', id: 'system' }])).toEqual(new Map([['system', 'System']]));
    expect(lookedUp).toEqual([]);
  });
});
