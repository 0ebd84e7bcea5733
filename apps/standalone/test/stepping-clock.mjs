/** Loaded before the program: each SIGUSR2 sets its clock back by half a second. */
const Time = Date;
let offset = 0;
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
