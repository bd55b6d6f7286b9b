#!/usr/bin/env node
// The executable `harness-serve`: `fairlead serve` under a name of its own; like the other it must parse on Node 18.
process.argv.splice(2, 0, 'serve');
await import('./bin.ts');
