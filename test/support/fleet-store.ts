// Creates a temporary fleet store for a test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { FleetStore } from '../../src/core/index.ts';
import { openFleetStore } from '../../src/stores/open-fleet-store.ts';

/** Returns a new store that is removed with the test. */
export async function openTempFleetStore(t: Pick<TestContext, 'after'>): Promise<FleetStore> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-fleet-'));
  const store = await openFleetStore(path.join(folder, 'fleet.sqlite'), { retryMs: 10 });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
}
