// `/session edit`: the conversation in the person's editor until it is right, then a new branch of the session.
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, settleOpenCalls, toArray, type Message } from '../../core/index.ts';
import type { Session } from '../../agent/index.ts';
import type { Mistake } from './conversation-blocks.ts';
import { fromText, type Dropped } from './conversation-read.ts';
import { MESSAGE, toText } from './conversation-text.ts';
import { keptIn, newDraft } from './draft.ts';
import { openEditor, type EditorOptions } from './editor.ts';

/** What came of editing a session. `kept` is the file that holds what was written and not taken over; `why` names it. */
export type SessionEdit =
  | { readonly type: 'edited'; readonly messages: number; readonly notices: readonly string[] }
  | { readonly type: 'cancelled'; readonly why: string; readonly kept?: string }
  | { readonly type: 'failed'; readonly why: string; readonly kept?: string };

/** What editing needs of a session. */
export type EditableSession = Pick<Session, 'running' | 'state' | 'edit'>;

/** Lets a person edit the conversation of a session. Mistakes are shown at the head of the file and it is opened again; nothing written is lost. */
export async function editSession(
  session: EditableSession,
  options: Omit<EditorOptions, 'suffix'> = {},
): Promise<SessionEdit> {
  if (session.running)
    return { type: 'failed', why: 'A run is going on: interrupt it before the conversation is edited.' };
  const { head } = session.state;
  const before = toArray(
    settleOpenCalls(session.state, 'The conversation was edited before this call was settled.').messages,
  );
  let text = toText(before);
  for (let tries = 1; ; tries++) {
    const edited = await openEditor(text, { ...options, suffix: '.fairlead' });
    if (edited.type === 'failed')
      return edited.kept === undefined && tries > 1 ? kept('failed', edited.why, text) : edited;
    if (edited.type === 'unchanged') return tries > 1 ? kept('cancelled', givenUp, text) : untouched;
    text = edited.text;
    if (isBlank(text))
      return { type: 'cancelled', why: 'The file was left empty, so the conversation stays as it was.' };
    const read = fromText(text, before);
    if ('mistakes' in read) text = withMistakes(text, read.mistakes);
    else if (isDeepStrictEqual(read.messages, before)) return untouched;
    else if (session.state.head !== head) return kept('failed', wentOn, text);
    else return take(session, read.messages, read.dropped, text);
  }
}

const untouched = { type: 'cancelled', why: 'Nothing was changed, so the conversation stays as it was.' } as const;
const givenUp = 'The mistakes were left as they were, so the conversation stays as it was.';
const wentOn = 'The session went on while it was edited, so nothing was taken over.';

async function take(
  session: EditableSession,
  messages: readonly Message[],
  dropped: readonly Dropped[],
  text: string,
): Promise<SessionEdit> {
  try {
    await session.edit(messages);
    return { type: 'edited', messages: messages.length, notices: dropped.map(({ why }) => why) };
  } catch (error) {
    return kept('failed', errorMessage(error), text);
  }
}

/** An end without effect, after which what was written can still be found. */
function kept(type: 'failed' | 'cancelled', why: string, text: string): SessionEdit {
  const { file } = newDraft(text, '.fairlead');
  return { type, why: `${why} ${keptIn(file)}`, kept: file };
}

const MARK = '#! ';

const isBlank = (text: string): boolean => text.split('\n').every((line) => line.startsWith('#') || line.trim() === '');

/** The text with its mistakes told above it; their lines are those that the person will see. Earlier ones are taken out. */
function withMistakes(text: string, mistakes: readonly Mistake[]): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith(MESSAGE));
  const isOld = (line: string, i: number): boolean => line.startsWith(MARK) && (first < 0 || i < first);
  const told = mistakes.slice(0, mostTold);
  const more = mistakes.length - told.length;
  const top = told.length + (more ? 1 : 0);
  const place = (line: number): number => line + top - lines.slice(0, line).filter(isOld).length;
  return [
    ...told.map(({ line, what }) => `${MARK}line ${place(line)}: ${what}`),
    ...(more ? [`${MARK}and ${more} more`] : []),
    ...lines.filter((line, i) => !isOld(line, i)),
  ].join('\n');
}

const mostTold = 20;
