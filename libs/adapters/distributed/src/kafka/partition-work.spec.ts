import { OffsetCommits } from './partition-work.ts';

describe('OffsetCommits', () => {
  const requests: [number, string][][] = [];
  let failure: Error | undefined;
  const commits = new OffsetCommits((offsets) => {
    requests.push([...offsets]);
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  });
  const allowed = () => true;
  beforeEach(() => {
    requests.splice(0);
    failure = undefined;
  });

  it('commits the offsets of one turn with one request', async () => {
    await Promise.all([commits.addOffsetToCommit(1, '10', allowed), commits.addOffsetToCommit(2, '20', allowed)]);
    await commits.addOffsetToCommit(1, '11', allowed);
    expect(requests).toEqual([
      [
        [1, '10'],
        [2, '20'],
      ],
      [[1, '11']],
    ]);
  });

  it('commits nothing for a partition that was assigned to another member before the request', async () => {
    let isFenced = false;
    const added = [commits.addOffsetToCommit(1, '10', () => !isFenced), commits.addOffsetToCommit(2, '20', allowed)];
    isFenced = true;
    await Promise.all(added);
    expect(requests).toEqual([[[2, '20']]]);
    await commits.addOffsetToCommit(1, '11', () => false);
    expect(requests).toHaveLength(1);
  });

  it('rejects all commits of a failed request, and makes another request for later ones', async () => {
    failure = new Error('away');
    const outcomes = await Promise.allSettled([
      commits.addOffsetToCommit(1, '10', allowed),
      commits.addOffsetToCommit(2, '20', allowed),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    failure = undefined;
    await commits.addOffsetToCommit(1, '10', allowed);
    expect(requests.at(-1)).toEqual([[1, '10']]);
  });
});
