// Removes the destroy hook of Node's test runner: with it, the garbage collector must track every promise of a test.
// The runner keeps its init hook, which connects an error outside of a test function to its test.
import hooks from 'node:async_hooks';

const { createHook } = hooks;
hooks.createHook = ({ init }) => createHook({ init });
await import('node:test');
hooks.createHook = createHook;
