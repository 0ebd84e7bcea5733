'use strict';
// Loaded before anything else (`node --require`), and written so that every Node since 0.12 can read it: an older one
// would otherwise end with the first syntax or module that it does not know.
var LEAST_MAJOR = 24;

if (parseInt(process.versions.node, 10) < LEAST_MAJOR) {
  process.stderr.write(
    'Node ' +
      LEAST_MAJOR +
      ' or newer is needed, and this is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      '): npm ci brings it where install scripts may run; where not, install it.\n',
  );
  process.exit(1);
}
