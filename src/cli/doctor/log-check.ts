// Verifies the newest session files, as many as can be read in a short time.
import { statSync } from 'node:fs';
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { verifyFile } from '../../stores/index.ts';
import { listSessionFiles } from '../../sessions/index.ts';
import { fail, ok, type DoctorCheck } from './check.ts';

const maxFiles = 100;
const maxBytes = 200e6;

/** Verifies the newest session files. */
export const logCheck: DoctorCheck = {
  name: 'log',
  async run({ settings, signal }) {
    const all = listSessionFiles(settings.dirs)
      .map((sessionFile) => {
        const { size = 0, mtimeMs = 0 } = statSync(sessionFile.file, { throwIfNoEntry: false }) ?? {};
        return { ...sessionFile, size, mtimeMs };
      })
      .filter(({ size }) => size > 0)
      .toSorted((a, b) => b.mtimeMs - a.mtimeMs);
    let bytes = 0;
    const checked = all.slice(0, maxFiles).filter(({ size }, i) => (bytes += size) <= maxBytes || i === 0);
    const bad: string[] = [];
    for (const { name, file } of checked) {
      if (signal.aborted) break;
      const problem = await verifySessionFile(file);
      if (problem !== undefined) bad.push(`"${escapeInvisibleLine(name)}": ${problem}`);
    }
    const which = checked.length === all.length ? `All ${all.length}` : `The newest ${checked.length} of ${all.length}`;
    if (bad.length > 0)
      return fail(
        `${bad.length} of ${checked.length} sessions are damaged or were edited. ${bad.slice(0, 3).join(' ')}`,
        'fairlead sessions verify <name> shows where; such a session still opens, and continues as an edited branch.',
      );
    if (all.length === 0) return ok('There is no session yet.');
    return ok(`${all.length === 1 ? 'The only session file' : `${which} session files`} passed verification.`);
  },
};

async function verifySessionFile(file: string): Promise<string | undefined> {
  try {
    const { ok: sound, problems } = await verifyFile(file);
    return sound ? undefined : (problems[0]?.message ?? 'it is damaged.');
  } catch (error) {
    return errorMessage(error);
  }
}
