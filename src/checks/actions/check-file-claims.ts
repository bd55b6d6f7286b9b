// Compares claims about files with the changes in the log.
import type { ClaimVerdict } from '../types.ts';
import { baseName, comparePaths, searchName } from './claim-paths.ts';
import { commandsOf, findChangeAfter, findWriter, type ChangedFile, type SessionActions } from './session-actions.ts';
import type { Action } from './types.ts';
import { cannotDecide, decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';

type Change = ChangedFile['changes'][number];

/** Decides whether a file was created, changed or deleted as an answer says. */
export function checkFileClaim(
  { path, change }: Action & { readonly type: 'file' },
  session: SessionActions,
): ClaimVerdict {
  const related = session
    .findFiles(searchName(path))
    .map((file) => ({ file, relation: comparePaths(path, file.path) }));
  const same = related.filter(({ relation, file }) => relation === 'same' && file.changes.length > 0);
  const base = baseName(path);
  const mentions = session.commands.findLast(
    (each) => !each.wasDenied && (each.mayWrite || each.mayDoAny) && each.command.includes(base),
  );
  if (same.length > 0)
    return checkChanged(
      path,
      change,
      same.map(({ file }) => file),
      session,
      mentions !== undefined,
    );
  if (mentions)
    return mentions.code === 0
      ? decide('supported', `A command that names ${path} ran.`, eventEvidence(session, mentions, mentions.command))
      : cannotDecide(`A command that names ${path} did not end with exit code 0, or its end is not known.`);
  const failed = session.failed.findLast(
    (record) => comparePaths(path, record.target) === 'same' || record.target.includes(path),
  );
  const reason =
    findUnknown(session) ??
    (related.some(({ relation }) => relation === 'name') ? 'Another file with this name was changed.' : undefined);
  if (reason !== undefined) return cannotDecide(reason);
  const writer = findWriter(session);
  if (writer) return cannotDecide(`The command ${shorten(writer.command)} may have changed the file.`);
  if (related.some(({ relation }) => relation === 'same')) return cannotDecide(`${path} was written without a change.`);
  if (failed)
    return decide(
      'contradicted',
      `The call of ${failed.tool} for ${path} ${failed.outcome === 'denied' ? 'was denied' : 'failed'} (event ${failed.seq}), and no other call changed the file.`,
      eventEvidence(session, failed, `${failed.tool} ${failed.target}: ${failed.outcome}`),
    );
  return decide('contradicted', `The log has no change of ${path}.`, summaryEvidence(session));
}

function checkChanged(
  path: string,
  change: string,
  files: readonly ChangedFile[],
  session: SessionActions,
  isMentioned: boolean,
): ClaimVerdict {
  const last = findLastChange(files) as Change;
  const proof = eventEvidence(session, last, `${last.tool} ${path}`);
  if (change === 'delete') {
    const deletion = findLastChange(files, (each) => each.after === null);
    if (deletion)
      return decide('supported', `${path} was deleted.`, eventEvidence(session, deletion, `${deletion.tool} ${path}`));
    if (isMentioned || findUnknown(session) !== undefined || findWriter(session))
      return cannotDecide(`${path} was changed by a tool, and may have been deleted by another call.`);
    return decide('contradicted', `${path} was changed (event ${last.seq}) and not deleted.`, proof);
  }
  return decide('supported', `${path} was changed.`, proof);
}

/** The last change of files that fits. */
function findLastChange(
  files: readonly ChangedFile[],
  fits: (change: Change) => boolean = () => true,
): Change | undefined {
  let last: Change | undefined;
  for (const { changes } of files)
    for (const change of changes) if ((last === undefined || change.seq >= last.seq) && fits(change)) last = change;
  return last;
}

/** Decides a claim that something was changed, where no file is named. */
export function checkSomeChange(
  { task }: Action & { readonly type: 'some-change' },
  session: SessionActions,
  admits: () => boolean,
): ClaimVerdict {
  const changed = session.files.findLast(({ changes }) => changes.length > 0);
  const change = changed?.changes.at(-1);
  if (changed && change) {
    const last = task === undefined || admits() ? undefined : commandsOf(session, task).at(-1);
    if (
      last &&
      last.code !== undefined &&
      last.code !== 0 &&
      !last.isMixed &&
      !last.hidesExit &&
      !findChangeAfter(session, last.seq) &&
      findUnknown(session) === undefined
    )
      return decide(
        'contradicted',
        `${shorten(last.command)} ended with exit code ${last.code} after the last change (event ${last.seq}).`,
        eventEvidence(session, last, last.command),
      );
    return decide(
      'supported',
      `${changed.path} was changed.`,
      eventEvidence(session, change, `${change.tool} ${changed.path}`),
    );
  }
  const reason = findUnknown(session);
  if (reason !== undefined) return cannotDecide(reason);
  const writer = findWriter(session);
  if (writer) return cannotDecide(`The command ${shorten(writer.command)} may have changed files.`);
  return decide('contradicted', 'The log has no change of a file.', summaryEvidence(session));
}

/** Decides whether a file contains what an answer says that it contains now. */
export function checkContentClaim(
  { path, value }: Action & { readonly type: 'content' },
  session: SessionActions,
): ClaimVerdict {
  const changed = session.files.filter(({ changes }) => changes.length > 0);
  const file =
    path === undefined
      ? changed.toSorted((a, b) => (a.changes.at(-1)?.seq ?? 0) - (b.changes.at(-1)?.seq ?? 0)).at(-1)
      : changed.find((each) => comparePaths(path, each.path) === 'same');
  if (!file)
    return path === undefined
      ? cannotDecide('No file was changed by a tool.')
      : checkFileClaim({ type: 'file', change: 'edit', path }, session);
  const texts = file.changes.map((change) => ({ change, written: session.evidence.writtenText?.(change.call) }));
  const squeeze = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  const found = texts.findLast(({ written }) => written && squeeze(written.text).includes(squeeze(value)));
  const lastWhole = texts.findLastIndex(({ written }) => written?.whole === true);
  const at = found ? texts.indexOf(found) : -1;
  if (found && at >= lastWhole)
    return decide('supported', `The text was written to ${file.path}.`, {
      source: { type: 'event', seq: found.change.seq },
      text: found.written?.text ?? '',
    });
  const last = texts.at(-1);
  if (
    lastWhole !== texts.length - 1 ||
    last?.written === undefined ||
    findUnknown(session) !== undefined ||
    findWriter(session)
  )
    return cannotDecide(`The complete content of ${file.path} is not in the log.`);
  return decide('contradicted', `What was written to ${file.path} (event ${last.change.seq}) does not contain it.`, {
    source: { type: 'event', seq: last.change.seq },
    text: last.written.text.slice(0, 2000),
  });
}
