// Lets the user edit the messages of a session in an editor, for `/session edit`; the result becomes a new branch.
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, closeOpenCalls, toArray, type Message } from '../../core/index.ts';
import type { Session } from '../../agent/index.ts';
import {
  type ConversationMistake,
  parseConversation,
  type DroppedMetadata,
  MESSAGE_PREFIX,
  formatConversation,
} from '../../sessions/conversation-format/index.ts';
import { draftKeptMessage, createDraftFile } from './draft-file.ts';
import { openEditor, type EditorOptions } from './open-editor.ts';

/** The result of editing a session. `draftPath` is the file with text that was not applied; `message` names it. */
export type SessionEditResult =
  | { readonly type: 'edited'; readonly messages: number; readonly notices: readonly string[] }
  | { readonly type: 'cancelled'; readonly message: string; readonly draftPath?: string }
  | { readonly type: 'failed'; readonly message: string; readonly draftPath?: string };

/** The part of a session that editing uses. */
export type EditableSession = Pick<Session, 'running' | 'state' | 'edit'>;

/** Opens the messages of a session in the user's editor. Mistakes are listed at the top of the file and it is opened again; text is never lost. */
export async function editSession(
  session: EditableSession,
  options: Omit<EditorOptions, 'suffix'> = {},
): Promise<SessionEditResult> {
  if (session.running)
    return { type: 'failed', message: 'A run is active: interrupt it before you edit the conversation.' };
  const { head } = session.state;
  const before = toArray(
    closeOpenCalls(session.state, 'The conversation was edited before this call had a result.').messages,
  );
  let text = formatConversation(before);
  for (let tries = 1; ; tries++) {
    const edited = await openEditor(text, { ...options, suffix: '.fairlead' });
    if (edited.type === 'failed')
      return edited.draftPath === undefined && tries > 1
        ? createRejectedResult('failed', edited.message, text)
        : edited;
    if (edited.type === 'unchanged')
      return tries > 1 ? createRejectedResult('cancelled', abandonedMessage, text) : unchangedResult;
    text = edited.text;
    if (isBlank(text)) return { type: 'cancelled', message: 'The file is empty, so the conversation was not changed.' };
    const read = parseConversation(text, before);
    if ('mistakes' in read) text = withErrorComments(text, read.mistakes);
    else if (isDeepStrictEqual(read.messages, before)) return unchangedResult;
    else if (session.state.head !== head) return createRejectedResult('failed', sessionChangedMessage, text);
    else return applyEdit(session, read.messages, read.dropped, text);
  }
}

const unchangedResult = {
  type: 'cancelled',
  message: 'Nothing was edited, so the conversation was not changed.',
} as const;
const abandonedMessage = 'The mistakes were not corrected, so the conversation was not changed.';
const sessionChangedMessage = 'The session changed during the edit, so the edit was not applied.';

async function applyEdit(
  session: EditableSession,
  messages: readonly Message[],
  dropped: readonly DroppedMetadata[],
  text: string,
): Promise<SessionEditResult> {
  try {
    await session.edit(messages);
    return { type: 'edited', messages: messages.length, notices: dropped.map(({ reason }) => reason) };
  } catch (error) {
    return createRejectedResult('failed', errorMessage(error), text);
  }
}

/** Returns a result without effect; the edited text is saved to a draft file. */
function createRejectedResult(type: 'failed' | 'cancelled', reason: string, text: string): SessionEditResult {
  const { file } = createDraftFile(text, '.fairlead');
  return { type, message: `${reason} ${draftKeptMessage(file)}`, draftPath: file };
}

const ERROR_PREFIX = '#! ';

const isBlank = (text: string): boolean => text.split('\n').every((line) => line.startsWith('#') || line.trim() === '');

/** Puts the mistakes at the top of the text, with the line numbers of the new text. Earlier mistakes are removed. */
function withErrorComments(text: string, mistakes: readonly ConversationMistake[]): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith(MESSAGE_PREFIX));
  const isOld = (line: string, i: number): boolean => line.startsWith(ERROR_PREFIX) && (first < 0 || i < first);
  const listed = mistakes.slice(0, maxListedErrors);
  const more = mistakes.length - listed.length;
  const top = listed.length + (more ? 1 : 0);
  const newLine = (line: number): number => line + top - lines.slice(0, line).filter(isOld).length;
  return [
    ...listed.map(({ line, message }) => `${ERROR_PREFIX}line ${newLine(line)}: ${message}`),
    ...(more ? [`${ERROR_PREFIX}and ${more} more`] : []),
    ...lines.filter((line, i) => !isOld(line, i)),
  ].join('\n');
}

const maxListedErrors = 20;
