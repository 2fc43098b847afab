#!/usr/bin/env node
// Runs the program of the package for this platform, with the same arguments and streams.
'use strict';
const { spawn } = require('node:child_process');
const os = require('node:os');

const name = `dormouse-bin-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/dormouse`);
} catch {
  console.error(`dormouse: ${name} is not installed. Dormouse runs on Linux (x64, arm64); install ` +
    'without --no-optional and --omit=optional.');
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends SIGINT to both; what is sent to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => { if (signal !== 'SIGINT') child.kill(signal); });
}
child.on('error', (error) => {
  console.error(`dormouse: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  process.exit(signal ? 128 + os.constants.signals[signal] : code);
});
