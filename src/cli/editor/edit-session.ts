// `/session edit`: the conversation in the person's editor until it is right, then a new branch of the session.
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, settleOpenCalls, toArray, type Message } from '../../core/index.ts';
import type { Session } from '../../agent/index.ts';
import type { ConversationMistake } from '../../sessions/conversation-format/blocks.ts';
import { parseConversation, type DroppedMetadata } from '../../sessions/conversation-format/parse-conversation.ts';
import { MESSAGE_PREFIX, formatConversation } from '../../sessions/conversation-format/format-conversation.ts';
import { draftKeptMessage, createDraftFile } from './draft-file.ts';
import { openEditor, type EditorOptions } from './open-editor.ts';

/** What came of editing a session. `kept` is the file that holds what was written and not taken over; `why` names it. */
export type SessionEditResult =
  | { readonly type: 'edited'; readonly messages: number; readonly notices: readonly string[] }
  | { readonly type: 'cancelled'; readonly message: string; readonly draftPath?: string }
  | { readonly type: 'failed'; readonly message: string; readonly draftPath?: string };

/** What editing needs of a session. */
export type EditableSession = Pick<Session, 'running' | 'state' | 'edit'>;

/** Lets a person edit the conversation of a session. Mistakes are shown at the head of the file and it is opened again; nothing written is lost. */
export async function editSession(
  session: EditableSession,
  options: Omit<EditorOptions, 'suffix'> = {},
): Promise<SessionEditResult> {
  if (session.running)
    return { type: 'failed', message: 'A run is going on: interrupt it before the conversation is edited.' };
  const { head } = session.state;
  const before = toArray(
    settleOpenCalls(session.state, 'The conversation was edited before this call was settled.').messages,
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
    if (isBlank(text))
      return { type: 'cancelled', message: 'The file was left empty, so the conversation stays as it was.' };
    const read = parseConversation(text, before);
    if ('mistakes' in read) text = withErrorComments(text, read.mistakes);
    else if (isDeepStrictEqual(read.messages, before)) return unchangedResult;
    else if (session.state.head !== head) return createRejectedResult('failed', sessionChangedMessage, text);
    else return applyEdit(session, read.messages, read.dropped, text);
  }
}

const unchangedResult = {
  type: 'cancelled',
  message: 'Nothing was changed, so the conversation stays as it was.',
} as const;
const abandonedMessage = 'The mistakes were left as they were, so the conversation stays as it was.';
const sessionChangedMessage = 'The session went on while it was edited, so nothing was taken over.';

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

/** An end without effect, after which what was written can still be found. */
function createRejectedResult(type: 'failed' | 'cancelled', why: string, text: string): SessionEditResult {
  const { file } = createDraftFile(text, '.fairlead');
  return { type, message: `${why} ${draftKeptMessage(file)}`, draftPath: file };
}

const ERROR_PREFIX = '#! ';

const isBlank = (text: string): boolean => text.split('\n').every((line) => line.startsWith('#') || line.trim() === '');

/** The text with its mistakes told above it; their lines are those that the person will see. Earlier ones are taken out. */
function withErrorComments(text: string, mistakes: readonly ConversationMistake[]): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith(MESSAGE_PREFIX));
  const isOld = (line: string, i: number): boolean => line.startsWith(ERROR_PREFIX) && (first < 0 || i < first);
  const told = mistakes.slice(0, maxListedErrors);
  const more = mistakes.length - told.length;
  const top = told.length + (more ? 1 : 0);
  const place = (line: number): number => line + top - lines.slice(0, line).filter(isOld).length;
  return [
    ...told.map(({ line, message }) => `${ERROR_PREFIX}line ${place(line)}: ${message}`),
    ...(more ? [`${ERROR_PREFIX}and ${more} more`] : []),
    ...lines.filter((line, i) => !isOld(line, i)),
  ].join('\n');
}

const maxListedErrors = 20;
