#!/usr/bin/env node
// The command's first file. An older Node may not be able to parse the program, so this one is in a syntax that it knows.
'use strict';
const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);
const isNew = major > 22 || (major === 22 && minor >= 3);
if (isNew || (major === 20 && (minor > 18 || (minor === 18 && patch >= 1)))) {
  require('./main.js');
} else {
  process.stderr.write(
    'bunnynet-exporter needs Node 20 (20.18.1 or newer), or 22.3 or newer; this is Node ' +
      process.versions.node +
      '. nodejs.org has them, and the deb, the rpm, the executable and the image bring their own.\n',
  );
  process.exitCode = 1;
}
