// Whether the session files say what was written: the newest ones, as many as can be read in a moment.
import { statSync } from 'node:fs';
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { verifyFile } from '../../stores/index.ts';
import { listSessionFiles } from '../../sessions/index.ts';
import { fail, ok, type DoctorCheck } from './check.ts';

const maxFiles = 100;
const maxBytes = 200e6;

/** Verifies the newest sessions. */
export const logCheck: DoctorCheck = {
  name: 'log',
  async run({ settings, signal }) {
    const all = listSessionFiles(settings.dirs)
      .map((place) => {
        const { size = 0, mtimeMs = 0 } = statSync(place.file, { throwIfNoEntry: false }) ?? {};
        return { ...place, size, mtimeMs };
      })
      .filter(({ size }) => size > 0)
      .toSorted((a, b) => b.mtimeMs - a.mtimeMs);
    let bytes = 0;
    const looked = all.slice(0, maxFiles).filter(({ size }, i) => (bytes += size) <= maxBytes || i === 0);
    const bad: string[] = [];
    for (const { name, file } of looked) {
      if (signal.aborted) break;
      const why = await verifySessionFile(file);
      if (why !== undefined) bad.push(`"${escapeInvisibleLine(name)}": ${why}`);
    }
    const which = looked.length === all.length ? `All ${all.length}` : `The newest ${looked.length} of ${all.length}`;
    if (bad.length > 0)
      return fail(
        `${bad.length} of ${looked.length} sessions are not as they were written. ${bad.slice(0, 3).join(' ')}`,
        'fairlead sessions verify <name> says where; such a session still opens, and continues as an edited branch.',
      );
    return ok(all.length === 0 ? 'There is no session yet.' : `${which} sessions are as they were written.`);
  },
};

async function verifySessionFile(file: string): Promise<string | undefined> {
  try {
    const { ok: sound, problems } = await verifyFile(file);
    return sound ? undefined : (problems[0]?.what ?? 'it is damaged.');
  } catch (error) {
    return errorMessage(error);
  }
}
