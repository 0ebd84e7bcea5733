import { administrationSocketPath } from './administration.ts';

describe('administrationSocketPath', () => {
  it('is in the data folder', () => {
    expect(administrationSocketPath('/srv/tracking/data', '/tmp')).toBe('/srv/tracking/data/administration.sock');
  });

  it('is in the temporary folder if the path would be too long for a socket', () => {
    const deep = `/srv/${'deep/'.repeat(30)}data`;
    const path = administrationSocketPath(deep, '/tmp');
    expect(path).toMatch(/^\/tmp\/tracking-[0-9a-f]{16}\/administration\.sock$/);
    expect(administrationSocketPath(deep, '/tmp')).toBe(path);
    expect(administrationSocketPath(`${deep}2`, '/tmp')).not.toBe(path);
  });

  it('counts bytes, not characters', () => {
    const folder = `/${'ü'.repeat(50)}`;
    expect(folder.length).toBeLessThan(60);
    expect(administrationSocketPath(folder, '/tmp')).toMatch(/^\/tmp\//);
    expect(administrationSocketPath(`/${'u'.repeat(82)}`, '/tmp')).toMatch(/^\/u+\/administration\.sock$/);
    expect(administrationSocketPath(`/${'u'.repeat(83)}`, '/tmp')).toMatch(/^\/tmp\//);
  });
});
