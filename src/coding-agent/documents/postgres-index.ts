// The index of a folder in PostgreSQL, over the connection of the store.
import { openPostgresStorage, type IndexStorage } from '../../retrieval/index.ts';

/** Opens the index of a folder in a database; creates its tables if there are none. */
export async function openPostgresIndex(url: string, root: string): Promise<IndexStorage> {
  const { openPostgresDatabase } = await import('../../stores/postgres/index.ts');
  const db = await openPostgresDatabase(url);
  try {
    const storage = await openPostgresStorage({ query: (sql, values) => db.all(sql, values) }, root);
    const close = async (): Promise<void> => {
      await storage.close();
      await db.close();
    };
    return {
      ...storage,
      close,
      destroy: async () => {
        await storage.destroy();
        await close();
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}
