// Replaces the destroy hook of Node's test runner: with it, the garbage collector must track every promise of a test.
// The init hook, which connects an error outside of a test function to its test, stays; its oldest entries are deleted by count.
import hooks from 'node:async_hooks';

const maxEntries = 500_000;
const { createHook } = hooks;
hooks.createHook = ({ init, destroy }) => {
  const testIds = new Set();
  return createHook({
    init(asyncId, type, triggerAsyncId, resource) {
      if (type === 'Test') testIds.add(asyncId);
      init(asyncId, type, triggerAsyncId, resource);
      if (asyncId > maxEntries && !testIds.has(asyncId - maxEntries)) destroy(asyncId - maxEntries);
    },
  });
};
await import('node:test');
hooks.createHook = createHook;
