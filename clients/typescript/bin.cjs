#!/usr/bin/env node
// The command `dormouse`: the server and its command line, which are in the optional dependency
// dormouse-bin.
'use strict';
let launch;
try {
  launch = require.resolve('dormouse-bin/launch.js');
} catch {
  console.error('dormouse: the command is in the package dormouse-bin, which is not installed. ' +
    'Install without --no-optional and --omit=optional, or add it: npm install dormouse-bin');
  process.exit(1);
}
require(launch);
