'use strict';
// Loaded before anything else (`node --require`), and written so that every Node since 0.12 can read it: an older one
// would otherwise end with the first syntax or module that it does not know.
// 24.7 is the first with argon2, by which passwords are hashed.
var LEAST = [24, 7];
var PRESENT = process.versions.node.split('.').map(Number);

if (PRESENT[0] < LEAST[0] || (PRESENT[0] === LEAST[0] && PRESENT[1] < LEAST[1])) {
  process.stderr.write(
    'Node ' +
      LEAST.join('.') +
      ' or newer is needed, and this is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      '): npm ci brings it where install scripts may run; where not, install it.\n',
  );
  process.exit(1);
}
