// Loads the SQLite extension of the package sqlite-vec, which is optional: it compares vectors faster than JavaScript.
import type { DatabaseSync } from 'node:sqlite';

/** The name of the optional package, as users install it. */
const vecPackage = 'sqlite-vec';

let loaded: Promise<string | undefined> | undefined;

/** Returns a function that adds the extension to a database, and tells whether that worked; undefined if the package is not installed. */
export async function loadSqliteVec(): Promise<((db: DatabaseSync) => boolean) | undefined> {
  loaded ??= (import(vecPackage) as Promise<{ getLoadablePath(): string }>).then(
    (library) => library.getLoadablePath(),
    () => undefined,
  );
  const file = await loaded.catch(() => undefined);
  if (file === undefined) return undefined;
  return (db) => {
    try {
      db.loadExtension(file);
      // No statement may load another extension.
      db.enableLoadExtension(false);
      return true;
    } catch {
      return false;
    }
  };
}
