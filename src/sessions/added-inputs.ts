// The texts in user messages that the user did not write: notes of the program, commands that the user ran, texts of hooks, and reminders.
import {
  isObject,
  messageText,
  parseNotes,
  verificationKey,
  type Event,
  type InputSource,
  type Json,
  type Message,
  type MessagePart,
  type UnconfirmedClaim,
} from '../core/index.ts';

/** The texts that the program or a hook added on one branch, and the nonces of its reminders. */
export type AddedInputs = {
  readonly texts: ReadonlyMap<string, InputSource>;
  readonly nonces: ReadonlySet<string>;
  /** The statements that checks could not confirm, by the text of the answer. */
  readonly unconfirmed?: ReadonlyMap<string, readonly UnconfirmedClaim[]>;
  /** What was found about answers, by the text of the answer: the record of a verification, or the text of a check that replaces it. */
  readonly checked?: ReadonlyMap<string, Json>;
};

/** Collects the added texts of a log. */
export type AddedInputsCollector = AddedInputs & {
  /** Records the texts and nonces of an event. */
  readonly record: (event: Event) => void;
};

/** The added texts of a conversation without a log. */
export const noAddedInputs: AddedInputs = { texts: new Map(), nonces: new Set() };

/** A text of a user message, by what wrote it. */
export type UserText =
  | { readonly type: 'user'; readonly text: string }
  /** A command that the user ran with an exclamation mark. */
  | { readonly type: 'command'; readonly command: string; readonly output: string; readonly code: number | undefined }
  | { readonly type: 'added'; readonly text: string; readonly by: InputSource }
  /** System reminders for the model. */
  | { readonly type: 'reminder'; readonly text: string };

/** Creates a collector of the texts that the user did not write. */
export function createAddedInputs(): AddedInputsCollector {
  const texts = new Map<string, InputSource>();
  const nonces = new Set<string>();
  const unconfirmed = new Map<string, readonly UnconfirmedClaim[]>();
  const checked = new Map<string, Json>();
  let isFork = false;
  let answer: Message | undefined;
  const record = (event: Event): void => {
    if (event.type === 'turn-ended') answer = event.message;
    if (event.type === 'check-ended' && event.verdict.type === 'passed' && event.verdict.claims && answer)
      unconfirmed.set(messageText(answer), [...(unconfirmed.get(messageText(answer)) ?? []), ...event.verdict.claims]);
    if (event.type === 'check-ended' && answer && 'text' in event.verdict && !checked.has(messageText(answer)))
      checked.set(messageText(answer), event.verdict.text ?? '');
    if (event.type === 'annotation-added' && event.key === verificationKey && isObject(event.value))
      checked.set(String(event.value['draft']), event.value);
    if (event.type === 'session-started') {
      nonces.add(event.nonce ?? '');
      isFork = event.from !== undefined;
    }
    if (event.type === 'epoch-started' && event.baseline) {
      if (event.baseline.nonce !== undefined) nonces.add(event.baseline.nonce);
      // The reminders that a fork starts with have the nonce of the other session, which only they contain.
      if (isFork && event.reason === 'started')
        for (const { parts } of event.baseline.messages) for (const part of parts) addReminderNonce(nonces, part);
    }
    if (event.type !== 'input-received' || event.by === undefined) return;
    for (const part of event.parts) if (part.type === 'text') texts.set(part.text, event.by);
  };
  return { texts, nonces, unconfirmed, checked, record };
}

function addReminderNonce(nonces: Set<string>, part: MessagePart): void {
  if (part.type !== 'text' || !parseNotes(part.text)) return;
  const [, nonce] = /^<system-reminder name="[^"]*" nonce="([^"]+)">/.exec(part.text) ?? [];
  if (nonce !== undefined) nonces.add(nonce);
}

/** Finds what wrote a text of a user message. */
export function classifyUserText(text: string, added: AddedInputs): UserText {
  const by = added.texts.get(text);
  if (by === undefined) return parseNotes(text, added.nonces) ? { type: 'reminder', text } : { type: 'user', text };
  const [, command, output, code] = (by === 'program' && commandNote.exec(text)) || [];
  return command === undefined || output === undefined
    ? { type: 'added', text, by }
    : { type: 'command', command, output, code: code === 'none' ? undefined : Number(code) };
}

/** A text that the user did not write, as a transcript shows it. */
export const formatAddedInput = (by: InputSource, text: string): string =>
  `${by === 'hook' ? 'Hook' : by === 'agent' ? 'Message of an agent' : 'Note to the model'}: ${text}`;

/** The parts of a user message in runs: those of the user together, each other text alone. */
export function splitUserParts(
  parts: readonly MessagePart[],
  added: AddedInputs,
): readonly (readonly MessagePart[] | Exclude<UserText, { readonly type: 'user' }>)[] {
  const runs: (MessagePart[] | Exclude<UserText, { readonly type: 'user' }>)[] = [];
  for (const part of parts) {
    const text = part.type === 'text' ? classifyUserText(part.text, added) : undefined;
    const last = runs.at(-1);
    if (text && text.type !== 'user') runs.push(text);
    else if (Array.isArray(last)) last.push(part);
    else runs.push([part]);
  }
  return runs;
}

const commandNote = /^I ran this command myself:\n\$ ([^\n]*)\n([^]*)\n\(exit code (\d+|none)\)$/;

/** The text by which the model reads a command that the user ran. */
export const formatCommandNote = (command: string, output: string, code: number | undefined): string =>
  `I ran this command myself:\n$ ${command}\n${output}\n(exit code ${code ?? 'none'})`;
