#!/usr/bin/env node
// The executable `start-harness-jayjader`, also `start-harness`: runs the program, which selects the profile `jayjader` by this file name; it must parse on Node 18.
await import('./bin.ts');
