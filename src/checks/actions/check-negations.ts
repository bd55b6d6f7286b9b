// Compares statements about what was not done, about the number of changed files, about changes that were taken back, and about files that were read, with the log.
import type { ClaimVerdict } from '../types.ts';
import { baseName, comparePaths } from './claim-paths.ts';
import { isPartOfTests } from './commands-scope.ts';
import { findChangeAfter, findWriter, isDocument, type ChangedFile, type SessionActions } from './session-actions.ts';
import type { Action } from './types.ts';
import { cannotDecide, decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';

const isOfThisRun = ({ evidence }: SessionActions, call: string): boolean => evidence.isOfThisRun?.(call) ?? true;

/** The last change of a file in this run, if the file is now another one than before. */
function findNetChange(session: SessionActions, { changes }: ChangedFile): ChangedFile['changes'][number] | undefined {
  const own = changes.filter(({ call }) => isOfThisRun(session, call));
  return own.length > 0 && own[0]?.before !== own.at(-1)?.after ? own.at(-1) : undefined;
}

/** Whether a call names a file in a folder for temporary files. */
const isScratch = ({ evidence }: SessionActions, call: string): boolean =>
  /^(?:\/private)?\/tmp\/|^\/var\/folders\//.test(
    evidence.log.records.findLast((record) => record.call === call)?.target ?? '',
  );

/** Decides a claim that no file was changed, or no other file than the answer names. */
export function checkNoChange(
  { scope }: Action & { readonly type: 'no-change' },
  session: SessionActions,
  answer: string,
): ClaimVerdict {
  const isNamed = ({ path }: ChangedFile): boolean => answer.includes(baseName(path));
  if (scope === 'others' && !session.files.some(isNamed)) return cannotDecide('The answer names no changed file.');
  for (const file of session.files) {
    const change = findNetChange(session, file);
    if (
      !change ||
      isScratch(session, change.call) ||
      (scope === 'code' && isDocument(file.path)) ||
      (scope === 'other-edits' && file.changes[0]?.before === null) ||
      ((scope === 'others' || scope === 'other-edits') && isNamed(file))
    )
      continue;
    return decide(
      'contradicted',
      `${shorten(file.path)} was changed (event ${change.seq}).`,
      eventEvidence(session, change, `${change.tool} ${file.path}`),
    );
  }
  const reason = findUnknown(session);
  const writer = findWriter(session);
  if (reason !== undefined || writer) return cannotDecide(reason ?? 'A command may have changed files.');
  return session.evidence.log.records.length === 0
    ? cannotDecide('The log has no calls with effects.')
    : decide('supported', 'The log has no other change of a file.', summaryEvidence(session));
}

/** Decides a claim that no command ran. */
export function checkNoRun({ task }: Action & { readonly type: 'no-run' }, session: SessionActions): ClaimVerdict {
  const ran = session.commands.findLast(
    (each) =>
      !each.wasDenied &&
      !each.isByUser &&
      isOfThisRun(session, each.call) &&
      (task === undefined
        ? each.mayWrite || each.mayDoAny || each.tasks.length > 0
        : each.tasks.includes(task) &&
          each.code !== undefined &&
          each.code < 126 &&
          !isPartOfTests(each.command) &&
          !findChangeAfter(session, each.seq)),
  );
  if (ran)
    return decide(
      'contradicted',
      `${shorten(ran.command)} ran (event ${ran.seq}).`,
      eventEvidence(session, ran, ran.command),
    );
  return cannotDecide('The log has no such command.');
}

/** Decides how many files were created, changed or deleted. */
export function checkFileCount(
  { change, count }: Action & { readonly type: 'file-count' },
  session: SessionActions,
): ClaimVerdict {
  const found = session.files.filter(({ changes }) =>
    change === 'create'
      ? changes.some(({ before }) => before === null)
      : change === 'delete'
        ? changes.some(({ after }) => after === null)
        : changes.length > 0,
  );
  const last = found.at(-1);
  const event = last?.changes.at(-1);
  if (last && event && found.length >= count)
    return decide(
      'supported',
      `The log has ${found.length} such files.`,
      eventEvidence(session, event, `${event.tool} ${last.path}`),
    );
  const reason = findUnknown(session);
  const writer = findWriter(session);
  if (reason !== undefined || writer) return cannotDecide(reason ?? 'A command may have changed files.');
  return decide('contradicted', `The log has ${found.length} such files, not ${count}.`, summaryEvidence(session));
}

/** Decides a claim that an own change of a file was taken back. */
export function checkUndo({ path }: Action & { readonly type: 'undo' }, session: SessionActions): ClaimVerdict {
  const file = session.files.find((each) => each.changes.length > 0 && comparePaths(path, each.path) === 'same');
  const last = file?.changes.at(-1);
  if (!file || !last) return cannotDecide(`The log has no change of ${path}.`);
  if (file.changes.length > 1)
    return last.after === file.changes[0]?.before
      ? decide('supported', `${path} is as before.`, eventEvidence(session, last, `${last.tool} ${path}`))
      : cannotDecide(`${path} was changed several times.`);
  const reason = findUnknown(session);
  const writer = findWriter(session);
  if (reason !== undefined || writer) return cannotDecide(reason ?? 'A command may have done it.');
  return decide(
    'contradicted',
    `${path} was changed (event ${last.seq}), and nothing took the change back.`,
    eventEvidence(session, last, `${last.tool} ${path}`),
  );
}

/** Decides a claim that a file was read. A command, a search or the user may have shown the file in another way. */
export function checkRead({ path }: Action & { readonly type: 'read' }, session: SessionActions): ClaimVerdict {
  const touched = session.evidence.touchedPaths?.();
  if (touched === undefined) return cannotDecide('The files that were read are not known.');
  if (touched.some((each) => comparePaths(path, each) !== 'different'))
    return decide('supported', `${path} was read.`, { source: { type: 'computed', by: 'actions' }, text: path });
  const reason = findUnknown(session);
  if (reason !== undefined || session.commands.some((each) => !each.wasDenied && each.tasks.length === 0))
    return cannotDecide(reason ?? 'A command may have shown the file.');
  return decide('contradicted', `The log has no read of ${path}.`, {
    source: { type: 'computed', by: 'actions' },
    text: `Files that tools read or changed: ${touched.slice(-8).map(shorten).join(', ') || 'none'}.`,
  });
}
