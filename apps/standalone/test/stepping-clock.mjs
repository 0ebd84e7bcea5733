/**
 * Changes the program's clock. It is loaded before the program. The clock is ahead by the milliseconds in `?ahead=`.
 * Each SIGUSR2 adds the next of the milliseconds in `?steps=`, and repeats the last one. By default, each signal sets
 * the clock back by half a second.
 */
const Time = Date;
const { searchParams } = new URL(import.meta.url);
let offset = Number(searchParams.get('ahead') ?? 0);
const steps = (searchParams.get('steps') ?? '-500').split(',').map(Number);
globalThis.Date = class extends Time {
  constructor(...parts) {
    if (parts.length === 0) super(Time.now() + offset);
    else super(...parts);
  }
  static now() {
    return Time.now() + offset;
  }
};
process.on('SIGUSR2', () => (offset += steps.length > 1 ? steps.shift() : steps[0]));
