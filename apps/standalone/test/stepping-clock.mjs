/**
 * Changes the program's clock; loaded before the program. The clock is ahead by the milliseconds in `?ahead=`, and each
 * SIGUSR2 sets it back by half a second.
 */
const Time = Date;
let offset = Number(new URL(import.meta.url).searchParams.get('ahead') ?? 0);
globalThis.Date = class extends Time {
  constructor(...parts) {
    if (parts.length === 0) super(Time.now() + offset);
    else super(...parts);
  }
  static now() {
    return Time.now() + offset;
  }
};
process.on('SIGUSR2', () => (offset -= 500));
