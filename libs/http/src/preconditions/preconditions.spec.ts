import { matchesEtag, parseEntityTags, parseVersionsOfEntityTags } from './preconditions.ts';

const versions = (header: string) => {
  const tags = parseEntityTags(header);
  return tags === undefined || tags === '*' ? tags : parseVersionsOfEntityTags(tags);
};

describe('If-Match', () => {
  it.each([
    ['"3"', [3]],
    ['"3", "4"', [3, 4]],
    ['"3","4"', [3, 4]],
    [', "3" ,,\t"4",', [3, 4]],
    ['*', '*'],
    [' * ', '*'],
  ])('%s names versions', (header, expected) => expect(versions(header)).toEqual(expected));

  it.each(['W/"3"', '"03"', '"0"', '""', '"a,b"', '"-1"', '"1e3"', '"9999999999999999"', '"*"', '"é"'])(
    '%s is well formed, but matches no version',
    (header) => {
      // Trimmed, as Node passes on a header.
      expect(versions(Buffer.from(header).toString('latin1'))).toEqual([]);
    },
  );

  it('accepts valid tags next to foreign ones', () => {
    expect(versions('"x,y", W/"7", "8"')).toEqual([8]);
  });

  it.each([
    '',
    ' ',
    ',',
    '3',
    '"3',
    '3"',
    '"3" "4"',
    '"3";',
    'w/"3"',
    'W/ "3"',
    '*, "3"',
    '"3", *',
    '"a b"',
    '"\u007f"',
  ])('%j is malformed', (header) => expect(parseEntityTags(header)).toBeUndefined());

  it('parses a long malformed header in linear time', () => {
    const many = ', \t'.repeat(5_000);
    expect(parseEntityTags(many)).toBeUndefined();
    expect(parseEntityTags(`"3"${many}x`)).toBeUndefined();
    expect(parseEntityTags(`${'"3",'.repeat(4_000)}"`)).toBeUndefined();
  });
});

describe('If-None-Match', () => {
  it.each(['"3"', 'W/"3"', '"x", W/"3"', '*'])('%s matches "3"', (header) =>
    expect(matchesEtag(header, '"3"')).toBe(true),
  );
  it.each(['"4"', '3', '', '"33"', '"3'])('%j does not match "3"', (header) =>
    expect(matchesEtag(header, '"3"')).toBe(false),
  );
});
