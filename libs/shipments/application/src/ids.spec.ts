import { createHash } from 'node:crypto';
import { parseShipmentId, parseShipmentIdOfPart, toShipmentStreamName } from '@tracking/shipments-domain';
import { createIdOfShipmentPart, createShipmentId } from './ids.ts';

const live = { workspace_id: 'wsp_1', environment: 'live' } as const;
const command = '6f2b0b4e-8f0e-4c39-9d1c-0a4c5a0f7a11';
const other = '6f2b0b4e-8f0e-4c39-9d1c-0a4c5a0f7a12';

describe('createShipmentId', () => {
  it('is 128 bits of SHA-256 over the length-prefixed scope and external_id, in base32', () => {
    const prefixed = Buffer.concat(
      ['wsp_1', 'live', 'PO-1'].flatMap((part) => {
        const length = Buffer.alloc(4);
        length.writeUInt32BE(part.length);
        return [length, Buffer.from(part)];
      }),
    );
    const bits = [...createHash('sha256').update(prefixed).digest().subarray(0, 16)]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('')
      .padEnd(130, '0');
    const expected = bits.replaceAll(/.{5}/g, (five) => 'abcdefghijklmnopqrstuvwxyz234567'.charAt(parseInt(five, 2)));
    expect(createShipmentId(live, 'PO-1', command)).toBe(`shp_${expected}`);
  });

  it('is the same for an external_id in every command, and different for each command without one', () => {
    expect(createShipmentId(live, 'PO-1', command)).toBe(createShipmentId(live, 'PO-1', other));
    expect(createShipmentId(live, null, command)).toBe(createShipmentId(live, undefined, command));
    expect(createShipmentId(live, null, command)).not.toBe(createShipmentId(live, null, other));
  });

  it('separates scopes and parts', () => {
    const ids = [
      createShipmentId(live, 'PO-1', command),
      createShipmentId({ ...live, environment: 'test' }, 'PO-1', command),
      createShipmentId({ ...live, workspace_id: 'wsp_2' }, 'PO-1', command),
      createShipmentId({ ...live, workspace_id: 'wsp_' }, '1PO-1', command),
      createShipmentId(live, 'PO-', command),
      createShipmentId(live, 'PÖ-1', command),
      createShipmentId(live, '', command),
      createShipmentId(live, null, command),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(parseShipmentId(id)).toBe(id);
  });

  it('distributes the first character of streams evenly', () => {
    const counts = new Map<string, number>();
    for (let n = 0; n < 3_200; n++) {
      const first = toShipmentStreamName(createShipmentId(live, `PO-${n}`, command)).charAt('shipment-'.length);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    expect(Math.min(...counts.values())).toBeGreaterThan(50);
  });
});

describe('parseShipmentId', () => {
  const id = createShipmentId(live, 'PO-1', command);
  it.each([
    ['upper case', id.toUpperCase()],
    ['another prefix', id.replace('shp_', 'mst_')],
    ['no prefix', id.slice(4)],
    ['one character less', id.slice(0, -1)],
    ['one character more', `${id}a`],
    ['a line break behind it', `${id}\n`],
    ['characters outside base32', `${id.slice(0, -2)}0a`],
    ['bits beyond the 128th', `${id.slice(0, -1)}b`],
    ['a path', 'shp_../../../../etc/passwd....'],
    ['nothing', ''],
    ['no text', { toString: () => id }],
  ])('refuses %s', (_, hostile) => {
    expect(parseShipmentId(hostile)).toBeUndefined();
  });
});

describe('ids of parts and events', () => {
  const shipment = createShipmentId(live, 'PO-1', command);

  it('begin with the token of the shipment and differ by command, kind and number', () => {
    const ids = [
      createIdOfShipmentPart('mst', shipment, command, 0),
      createIdOfShipmentPart('mst', shipment, command, 1),
      createIdOfShipmentPart('mst', shipment, other, 0),
      createIdOfShipmentPart('exc', shipment, command, 0),
    ];
    expect(new Set(ids.map((id) => id.slice(4))).size).toBe(ids.length);
    for (const id of ids) {
      expect(id).toMatch(/^(mst|exc)_[a-z2-7]{42}$/);
      expect(`shp_${id.slice(4, 30)}`).toBe(shipment);
    }
    expect(createIdOfShipmentPart('mst', shipment, command, 0)).toBe(ids[0]);
  });

  it('give the shipment of an exception, and of no other text', () => {
    const id = createIdOfShipmentPart('exc', shipment, command, 0);
    expect(parseShipmentIdOfPart('exception', id)).toBe(shipment);
    const others = [
      createIdOfShipmentPart('mst', shipment, command, 0),
      shipment,
      `${id}a`,
      id.slice(0, -1),
      `${id}\n`,
      id.toUpperCase(),
    ];
    const overlong = `${id.slice(0, 29)}b${id.slice(30)}`;
    for (const other of [...others, overlong, '', undefined, { toString: () => id }]) {
      expect(parseShipmentIdOfPart('exception', other)).toBeUndefined();
    }
  });
});
