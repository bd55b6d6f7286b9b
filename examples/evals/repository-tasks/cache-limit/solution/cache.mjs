export function createCache(max) {
  const entries = new Map();
  const use = (key, value) => {
    entries.delete(key);
    entries.set(key, value);
    return value;
  };
  return {
    get: (key) => (entries.has(key) ? use(key, entries.get(key)) : undefined),
    set(key, value) {
      use(key, value);
      if (entries.size > max) entries.delete(entries.keys().next().value);
    },
    size: () => entries.size,
  };
}
