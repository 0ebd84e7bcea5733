import type { Actor } from '@tracking/contracts';
import { ActorNames } from './actor-names.ts';

const user = (id: string): Actor => ({ type: 'user', id });

describe('names of actors', () => {
  let asked: string[];
  let names: ActorNames;
  beforeEach(() => {
    asked = [];
    const known = new Map([
      ['usr_1', 'Ada'],
      ['usr_2', null],
    ]);
    const namesOf = (actors: readonly Actor[]) => {
      asked.push(...actors.map(({ id }) => id));
      return Promise.resolve(known);
    };
    names = new ActorNames({ namesOf });
  });

  it('are looked up once for each, however often it stands there', async () => {
    const actors = [user('usr_1'), user('usr_2'), user('usr_1'), user('usr_9')];
    const expected = new Map([
      ['usr_1', 'Ada'],
      ['usr_2', null],
      ['usr_9', null],
    ]);
    expect(await names.of(actors)).toEqual(expected);
    expect(await names.of(actors)).toEqual(expected);
    expect(asked.filter((id) => id === 'usr_1')).toHaveLength(1);
  });

  it('are not asked for of the platform itself', async () => {
    expect(await names.of([{ type: 'system', id: 'system' }])).toEqual(new Map([['system', 'System']]));
    expect(asked).toEqual([]);
  });
});
