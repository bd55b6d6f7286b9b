#!/usr/bin/env node
// The executable `harness-serve`: runs `fairlead serve`; it must parse on Node 18.
process.argv.splice(2, 0, 'serve');
await import('./bin.ts');
