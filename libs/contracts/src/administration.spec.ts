import { getSocketPath } from './administration.ts';

describe('administrationSocketPath', () => {
  it('is in the data folder', () => {
    expect(getSocketPath('/srv/tracking/data', '/tmp')).toBe('/srv/tracking/data/administration.sock');
  });

  it('is in the temporary folder if the path would be too long for a socket', () => {
    const deep = `/srv/${'deep/'.repeat(30)}data`;
    const path = getSocketPath(deep, '/tmp');
    expect(path).toMatch(/^\/tmp\/tracking-[0-9a-f]{16}\/administration\.sock$/);
    expect(getSocketPath(deep, '/tmp')).toBe(path);
    expect(getSocketPath(`${deep}2`, '/tmp')).not.toBe(path);
  });

  it('counts bytes, not characters', () => {
    const folder = `/${'ü'.repeat(50)}`;
    expect(folder.length).toBeLessThan(60);
    expect(getSocketPath(folder, '/tmp')).toMatch(/^\/tmp\//);
    expect(getSocketPath(`/${'u'.repeat(82)}`, '/tmp')).toMatch(/^\/u+\/administration\.sock$/);
    expect(getSocketPath(`/${'u'.repeat(83)}`, '/tmp')).toMatch(/^\/tmp\//);
  });
});
