#!/usr/bin/env node
// The executable: checks the Node version, enables the compile cache and loads main; it must itself parse on Node 18.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Fairlead needs Node 22.19 or newer and found ${process.versions.node}: install a newer Node.\n`,
  );
  process.exitCode = 1;
} else {
  // Not imported: an import would evaluate every export of the module at every start.
  process.getBuiltinModule('node:module').enableCompileCache();
  // All output is written at this point; exit skips the teardown of the heap.
  process.once('beforeExit', (code) => process.exit(code));
  const { main, surviveClosedPipes } = await import('./main.ts');
  surviveClosedPipes();
  process.exitCode = await main(process.argv.slice(2));
}
