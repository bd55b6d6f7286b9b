// Verifies session files for `fairlead sessions verify`: the hash chain of each file, and whether the file is the one that was closed last.
import { errorMessage, escapeInvisible, escapeInvisibleLine } from '../../../core/index.ts';
import { findRewrittenHead, findSession, listSessionFiles, type SessionDirs } from '../../../sessions/index.ts';
import { verifyFile, type FileVerification, type SessionFileProblem } from '../../../stores/index.ts';
import { print } from '../../args/stdio.ts';

/** Verifies one session, or all, prints what was found, and returns the exit code: 0 if all are as they were written, 1 otherwise. */
export async function verifySessions(
  session: string | undefined,
  options: { readonly dirs: SessionDirs; readonly json?: boolean },
): Promise<number> {
  const sessionFiles = session === undefined ? listSessionFiles(options.dirs) : [findSession(options.dirs, session)];
  const results = [];
  for (const { name, file } of sessionFiles) results.push({ name, ...(await verifySessionFile(file, options.dirs)) });
  if (options.json)
    print(
      `${JSON.stringify(
        results.map((each) => ({ ...each, problems: each.problems.map(toProblemJson) })),
        null,
        2,
      )}\n`,
    );
  else
    for (const { name, ok, events, problems } of results) {
      print(`${escapeInvisibleLine(name)}: ${ok ? 'ok' : 'damaged'} (${events} events)\n`);
      for (const { message } of problems) print(`  ${escapeInvisible(message)}\n`);
    }
  return results.every(({ ok }) => ok) ? 0 : 1;
}

type VerificationProblem = Partial<SessionFileProblem> & Pick<SessionFileProblem, 'message'>;

/** The JSON output keeps the field names of version 0.1. */
const toProblemJson = ({ message, backupFile, resolved, ...problem }: VerificationProblem) => ({
  ...problem,
  what: message,
  kept: backupFile,
  healed: resolved,
});

/** A file that cannot even be read as a session must not keep the others from being checked. */
async function verifySessionFile(
  file: string,
  dirs: SessionDirs,
): Promise<Pick<FileVerification, 'ok' | 'events'> & { problems: readonly VerificationProblem[] }> {
  try {
    const verified = await verifyFile(file);
    const rewritten = findRewrittenHead(dirs, file);
    if (rewritten === undefined || verified.problems.length > 0) return verified;
    return { ...verified, ok: false, problems: [{ message: rewritten }] };
  } catch (error) {
    return { ok: false, events: 0, problems: [{ message: errorMessage(error) }] };
  }
}
