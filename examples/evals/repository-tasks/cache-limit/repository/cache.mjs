export function createCache() {
  const entries = new Map();
  return {
    get: (key) => entries.get(key),
    set: (key, value) => void entries.set(key, value),
    size: () => entries.size,
  };
}
