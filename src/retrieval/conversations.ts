// Recognises conversations with a model: session logs, exported transcripts and chat messages. What a model wrote is no evidence.
import type { PassageSource } from './types.ts';

/** The title of a passage that a model wrote, in a session log or another JSONL file. */
export const modelTitle = 'model';

/** Whether a model wrote a passage of a JSONL file. A record has an id and a title of its own. */
export const isModelPassage = ({ path, id }: Pick<PassageSource, 'path' | 'id'>, title: string): boolean =>
  title === modelTitle && id === undefined && /\.(?:jsonl|ndjson)$/i.test(path);

/** A line that names the speaker: a heading, a name with a colon, also in bold, or a name between rules. */
const speaker = (names: string): RegExp =>
  new RegExp(
    String.raw`^[ \t>]{0,8}(?:#{1,6}[ \t]+\W{0,4}(?:${names})\W{0,4}$|\*{0,2}(?:${names})\*{0,2}[ \t]?:|\u2500\u2500 (?:${names}) \u2500\u2500)`,
    'im',
  );
const modelSpeaks = speaker(String.raw`assistant|chatgpt|gpt-[\w.]{1,10}|claude|gemini|copilot|ai|bot`);
const userSpeaks = speaker('user|human|you|me|prompt');
const jsonMessage = /"(?:role|from|author|sender|speaker)"\s{0,20}:\s{0,20}"(?:assistant|model|ai|gpt|bot)"/i;

/** Whether a document is a conversation of a user with a model. */
export const isConversation = (path: string, text: string): boolean =>
  (modelSpeaks.test(text) && userSpeaks.test(text)) || (/\.json$/i.test(path) && jsonMessage.test(text));

/** Whether a line of a JSONL file is a message of a model. */
export const isModelLine = (line: string): boolean =>
  jsonMessage.test(line) || /"type"\s{0,20}:\s{0,20}"turn-ended"/.test(line);
