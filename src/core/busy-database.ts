// Work on a database file that other processes write too: transactions, and new attempts while the file is locked.

/** Runs work in a transaction that no other process writes beside; an error rolls it back. */
export function inTransaction<T>(
  db: { exec(sql: string): unknown; readonly isTransaction: boolean },
  work: () => T,
): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Tries work again, after short waits that do not block, while it throws an error that says that another process is busy. */
export async function retryWhileBusy<T>(
  work: () => T,
  options: { readonly isBusy: (error: unknown) => boolean; readonly maxMs: number },
): Promise<T> {
  for (const end = performance.now() + options.maxMs; ;) {
    try {
      return work();
    } catch (error) {
      if (!options.isBusy(error) || performance.now() > end) throw error;
      await new Promise((resolve) => void setTimeout(resolve, 1 + Math.random() * 10));
    }
  }
}
