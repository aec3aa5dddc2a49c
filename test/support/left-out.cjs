const { readFileSync } = require('node:fs');

/** What `npm test` leaves out: whole files, by their names, and the whole form of the files that ask `extent.ts`. */
module.exports = (paths) => ({ filtered: paths.filter(isLeftOut) });

const isLeftOut = (path) =>
  /\.all\.test\.tsx?$/.test(path) || /\/support\/(extent|test-of-all)\.ts'/.test(readFileSync(path, 'utf8'));
