export * from './errors.ts';
export * from './events.ts';
export * from './identity.ts';
export * from './json.ts';
export * from './milestone.ts';
export * from './page.ts';
export * from './places.ts';
export * from './shipment.ts';
